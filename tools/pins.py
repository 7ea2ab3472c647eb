"""Writes constraints.txt: the exact version, as installed here, of everything the project and its extras need."""

import importlib.metadata
import sys
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HEADER = "# Exact versions that the project was tested with; made by `make pins`.\n"
EXTRAS = ("piper", "gguf", "test", "dev")


def needed(name: str, extras: frozenset[str], seen: dict[str, frozenset[str]]) -> None:
    """Adds `name`, asked for with `extras`, and all it needs to `seen`. Raises SystemExit when a package is not installed."""
    key = canonicalize_name(name)
    had = seen.get(key)
    if had is not None and extras <= had:
        return
    seen[key] = extras | (had or frozenset())
    try:
        requirements = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        raise SystemExit(f"pins: {name} is not installed; run `make install-dev` first") from None
    for line in requirements:
        requirement = Requirement(line)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras or {""}):
            needed(requirement.name, frozenset(requirement.extras), seen)


def main() -> None:
    """Reads the project's own metadata and writes the file beside pyproject.toml."""
    seen: dict[str, frozenset[str]] = {}
    needed("voiceagent", frozenset(EXTRAS), seen)
    seen.pop("voiceagent")
    lines = [f"{name}=={importlib.metadata.version(name)}\n" for name in sorted(seen)]
    target = Path(__file__).resolve().parent.parent / "constraints.txt"
    target.write_text(HEADER + "".join(lines))
    sys.stdout.write(f"{target.name}: {len(lines)} packages\n")


if __name__ == "__main__":
    main()
