"""The report: every figure of every system from the files that the runs left, as tables and plots."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers.plots import curves, strips
from benchmarks.peers.result import Result
from benchmarks.peers.trials import Over, Wait

NAMES = {"ours": "voiceagent", "livekit_agents": "LiveKit Agents", "pipecat": "Pipecat"}
SURVIVED = 0.85
"""A reply of which so much sounded went on after what was made over it; a voice's pace alone moves it by a tenth."""

AIMS_MS = "400 / 850"

Cell = Callable[[Result], str]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `value` is what is compared (None: nothing measured), the smaller the better unless `more`."""

    name: str
    cell: Cell
    value: Callable[[Result], float | None]
    more: bool = False


def read(folder: Path) -> list[Result]:
    """Every run in the folder, ours first."""
    files = [path for path in sorted(folder.glob("*.json")) if path.name != "machine.json" and ".plan." not in path.name]
    found = [Result.read(path) for path in files]
    return sorted(found, key=lambda run: (list(NAMES).index(run.system), run.setting != "default", run.setting, bool(run.crowd)))


def rows() -> tuple[Row, ...]:
    """What is compared."""
    return (
        _spread("end of speech to first sound", _waits),
        _count("answered before the true end", lambda run: [wait.early > 0 for wait in run.waits]),
        _count("not answered", lambda run: [wait.wait_ms is None for wait in run.waits]),
        _spread("the same, answers from notes", lambda run: _told(run.notes)),
        _count("false cut-offs at made pauses", _made),
        _number("starts to speak into Kennedy", lambda run: _early(run, "jfk")),
        _number("starts to speak into the telephone talk", lambda run: _early(run, "pyannote")),
        _spread("end of paused speech to first sound", lambda run: _told(run.pauses)),
        _spread("barge-in: onset to ducked", lambda run: _times(run.barge, "ducked_ms")),
        _spread("barge-in: onset to silence", lambda run: _times(run.barge, "silent_ms")),
        _count("barge-in: not stopped", lambda run: [over.silent_ms is None for over in _came(run.barge)]),
        _spread("barge-in: its end to the next answer", lambda run: _times(run.barge, "answered_ms")),
        _count("noises that ended the answer", lambda run: [over.played < SURVIVED for over in _came(run.noises)]),
        _count("backchannels that ended the answer", lambda run: [over.played < SURVIVED for over in _came(run.murmurs)]),
        _count("long answers that never came", lambda run: [not over.played for over in _overs(run)]),
        _count("heard words wrong by more than one", lambda run: [abs(error) > 1 for error in errors(run)]),
        _number("heard words: mean error", lambda run: float(np.mean(np.abs(found))) if (found := errors(run)) else None),
        _number("heard words: worst error", lambda run: float(max(map(abs, found))) if (found := errors(run)) else None),
        _number("CPU s/s, idle", lambda run: run.idle_cpu or None),
        _number("CPU s/s, short turns", lambda run: run.talk_cpu or None),
        _number("CPU s/s, long answers spoken over", lambda run: run.over_cpu if run.barge else None),
        _number("calls a core", calls_a_core, more=True),
        _number("RSS loaded, MB", lambda run: run.rss_loaded_mb or None),
        _number("RSS peak, MB", lambda run: None if run.crowd else run.rss_peak_mb),
        _number("import s", lambda run: None if run.crowd else run.import_s),
    )


def errors(run: Result) -> list[int]:
    """For each reply that was cut by words: how many more words the system holds to have been heard than had sounded by half."""
    return [over.words_claimed - round(over.words_heard) for over in run.barge if over.silent_ms is not None]


def calls_a_core(run: Result) -> float | None:
    """The most calls at which nobody was left unanswered and 95 % waited at most twice as long as a single caller's 95 %."""
    if not run.crowd or (alone := run.crowd[0].p95_ms) is None:
        return None
    kept = [crowd.calls for crowd in run.crowd if not crowd.unanswered and crowd.p95_ms is not None and crowd.p95_ms <= 2 * alone]
    return float(max(kept, default=0))


def tables(runs: Sequence[Result]) -> str:
    """One table in Markdown; the best figure of each line among default settings is bold."""
    shown = [run for run in runs if not run.crowd]
    crowds = {(run.system, run.setting): run for run in runs if run.crowd}
    heads = [f"{NAMES[run.system]} {run.version}, {run.setting}" for run in shown]
    lines = ["| | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(shown)]
    for row in rows():
        runs_of_row = [crowds.get((run.system, run.setting), run) if row.name == "calls a core" else run for run in shown]
        best = _best(row, runs_of_row)
        cells = [f"**{row.cell(run)}**" if best is not None and row.value(run) == best else row.cell(run) for run in runs_of_row]
        lines.append(f"| {row.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def lost(runs: Sequence[Result]) -> list[str]:
    """The lines in which ours, by default, is not the best."""
    found = []
    for row in rows():
        ours = [run for run in runs if run.system == "ours" and run.setting == "default" and row.value(run) is not None]
        best = _best(row, runs)
        found += [row.name for run in ours if best is not None and row.value(run) != best]
    return list(dict.fromkeys(found))


def write(folder: Path, docs: Path) -> None:
    """Makes the report and its plots anew between its two marks; what people wrote around them stays."""
    runs, about = read(folder), json.loads((folder / "machine.json").read_text())
    single = {f"{NAMES[run.system]}, {run.setting}": run for run in runs if not run.crowd}
    plots = {
        "turns-wait": strips("End of speech to first sound, ms", {name: _waits(run) for name, run in single.items()}, "ms"),
        "turns-silence": strips(
            "Barge-in: onset to silence, ms", {name: _times(run.barge, "silent_ms") for name, run in single.items()}, "ms"
        ),
        "turns-calls": curves(
            "Several calls on one core: 95 % wait at most, ms",
            {NAMES[run.system]: [(crowd.calls, crowd.p95_ms or 0.0) for crowd in run.crowd] for run in runs if run.crowd},
            "calls",
            "ms",
        ),
    }
    for name, plot in plots.items():
        (docs / f"{name}.svg").write_text(plot)
    loads = ", ".join(f"{run.load:g}" for run in runs)
    parts = [
        f"Measured {about['date']} on {about['cores']} cores of {about['cpu']}, Python {about['python']}, by",
        f"`python {about['command']}`; load of the machine while each run ended: {loads}; the driver's own frames came",
        f"{max(run.late_p99_ms for run in runs):.0f} ms late at the most (p99).",
        "",
        "Times in ms, p50 / p95 (most) and how many; shares with their 95 % interval (Wilson). Bold: best with default settings.",
        "",
        tables(runs),
        "Not first: " + (", ".join(lost(runs)) or "nothing") + ".",
        "",
        *(f"![{name}]({name}.svg)" for name in plots),
    ]
    path = docs / "turns-report.md"
    path.write_text(_between(path.read_text(), "\n".join(parts)))


def _between(text: str, made: str) -> str:
    begin, end = "<!-- made by benchmarks/turns.py -->", "<!-- end -->"
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n\n{made}\n\n{end}{after}"


def _spread(name: str, values: Callable[[Result], list[float]]) -> Row:
    def cell(run: Result) -> str:
        found = values(run)
        if not found:
            return "–"
        return f"{np.percentile(found, 50):.0f} / {np.percentile(found, 95):.0f} ({max(found):.0f}), {len(found)}"

    def value(run: Result) -> float | None:
        found = values(run)
        return float(np.percentile(found, 50)) if found else None

    return Row(name, cell, value)


def _count(name: str, yes: Callable[[Result], list[bool]]) -> Row:
    def cell(run: Result) -> str:
        found = yes(run)
        if not found:
            return "–"
        low, high = wilson(sum(found), len(found))
        return f"{sum(found)} of {len(found)} ({low:.0%}–{high:.0%})"

    def value(run: Result) -> float | None:
        found = yes(run)
        return sum(found) / len(found) if found else None

    return Row(name, cell, value)


def _number(name: str, value: Callable[[Result], float | None], *, more: bool = False) -> Row:
    def cell(run: Result) -> str:
        found = value(run)
        return "–" if found is None else f"{found:.3g}" if found < 100 else f"{found:.0f}"

    return Row(name, cell, value, more)


def wilson(yes: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a rate (Wilson 1927)."""
    z, rate = 1.96, yes / of
    middle = rate + z * z / (2 * of)
    spread = z * math.sqrt(rate * (1 - rate) / of + z * z / (4 * of * of))
    scale = 1 + z * z / of
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def _best(row: Row, runs: Sequence[Result]) -> float | None:
    found = [value for run in runs if run.setting == "default" and (value := row.value(run)) is not None]
    if len(found) < 2:
        return None
    return max(found) if row.more else min(found)


def _waits(run: Result) -> list[float]:
    return _told([wait for wait in run.waits if not wait.early])


def _told(waits: Sequence[Wait]) -> list[float]:
    return [wait.wait_ms for wait in waits if wait.wait_ms is not None]


def _times(overs: Sequence[Over], name: str) -> list[float]:
    return [value for over in overs if (value := getattr(over, name)) is not None]


def _overs(run: Result) -> list[Over]:
    return [*run.barge, *run.noises, *run.murmurs]


def _came(overs: Sequence[Over]) -> list[Over]:
    """Those in which there was an answer to speak over."""
    return [over for over in overs if over.played]


def _made(run: Result) -> list[bool]:
    """For each made pause whether the agent spoke into its sentence because of it; never more than once a pause."""
    made = [wait for wait in run.pauses if wait.pauses]
    return [number < wait.early for wait in made for number in range(wait.pauses)]


def _early(run: Result, name: str) -> float | None:
    found = [wait.early for wait in run.pauses if name in wait.clip]
    return float(sum(found)) if found else None
