"""Who calls in a run of `talk`, when, and with which recording: from file names, or from a script."""

import difflib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from voiceagent.errors import ConfigError
from voiceagent.values import JSON

LONGEST_MS = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Caller:
    """One person of a run: on the line from its beginning, `start_ms` later they say the file's sound.

    `from_ms` and `to_ms` (None: the end) cut the piece that is said out of the file.
    """

    name: str
    file: Path
    start_ms: int = 0
    from_ms: int = 0
    to_ms: int | None = None


KEYS = tuple(field.name for field in fields(Caller))


def from_files(files: Sequence[Path]) -> tuple[Caller, ...]:
    """One caller a file, all from the start, named after their files; a name met again gets a number."""
    callers: list[Caller] = []
    for file in files:
        name, number = file.stem, 1
        while any(caller.name == name for caller in callers):
            number += 1
            name = f"{file.stem} {number}"
        callers.append(Caller(name, file))
    return tuple(callers)


def read_script(path: Path) -> tuple[Caller, ...]:
    """The callers of a TOML script; file names in it are relative to its folder. Raises ConfigError, naming what to change."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"there is no script {path}") from None
    except (OSError, ValueError, RecursionError) as error:  # also a number of too many digits, or brackets too deep
        raise ConfigError(f"cannot read the script {path}: {error}") from None
    entries = table.pop("caller", None)
    if table:
        raise ConfigError(f"{path}: unknown key `{next(iter(table))}`; a script holds [[caller]] tables only")
    if not isinstance(entries, list) or not entries:
        raise ConfigError(f"{path}: no [[caller]] in it")
    callers = tuple(_caller(f"{path}: caller {number}", entry, path.parent) for number, entry in enumerate(entries, 1))
    names = [caller.name for caller in callers]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{path}: two callers are named `{name}`")
    return callers


def _caller(where: str, entry: JSON, folder: Path) -> Caller:
    if not isinstance(entry, dict):
        raise ConfigError(f"{where}: not a table")
    for key in entry:
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"known: {', '.join(KEYS)}"
            raise ConfigError(f"{where}: unknown key `{key}`; {hint}")
    file = entry.get("file")
    if not isinstance(file, str) or not file:
        raise ConfigError(f"{where}: `file` is missing, or is no text")
    name = entry.get("name", Path(file).stem)
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"{where}: `name` must be text")
    from_ms = _ms(where, entry, "from_ms") or 0
    to_ms = _ms(where, entry, "to_ms")
    if to_ms is not None and to_ms <= from_ms:
        raise ConfigError(f"{where}: `to_ms` ({to_ms}) must be above `from_ms` ({from_ms})")
    return Caller(name.strip(), folder / file, _ms(where, entry, "start_ms") or 0, from_ms, to_ms)


def _ms(where: str, entry: dict[str, JSON], key: str) -> int | None:
    value = entry.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LONGEST_MS:
        raise ConfigError(f"{where}: `{key}` must be whole milliseconds, 0 to {LONGEST_MS}, not {value!r}")
    return value
