"""Turns in time, ours beside LiveKit Agents and Pipecat: the same recordings, models, driver and machine.

    python benchmarks/turns.py [--quick | --full] [--only ours] [--calls 1,2,4] [--folder DIR] [--report]

Each system runs in a process, and each peer in an environment of its own that is made when it is missing (a few minutes, once); a
peer whose environment cannot be made is left out. Every run leaves a JSON file in the folder; `--report` makes
docs/turns-report.md and its plots from them, and `--judge` only that, from an earlier run. `--quick` is two turns, one
interruption and one cough each, in two minutes; without it a quarter of an hour, `--full` more than an hour. A number of one
kind can be given for itself.
"""

import argparse
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.peers import compare, report  # noqa: E402 - found by the line above when this file is run by itself
from benchmarks.peers.venvs import python_of  # noqa: E402

SHARED = Path(os.environ.get("VOICEAGENT_SHARED", ROOT.parent / "shared"))
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "voiceagent" / "peers"
SYSTEMS = ("ours", "livekit_agents", "pipecat")
FOLDERS = {"--folder", "--venvs"}
EQUAL = "vad-800"
"""The setting in which everybody waits for the same silence, for the parts in which that matters."""


def sizes(asked: argparse.Namespace) -> compare.Sizes:
    """What was asked for."""
    chosen = compare.QUICK if asked.quick else compare.FULL if asked.full else compare.SHORTER
    names = ("waits", "notes", "pauses", "barge", "noises", "murmurs", "calls")
    return replace(chosen, **{name: value for name in names if (value := getattr(asked, name)) is not None})


def command(arguments: list[str]) -> str:
    """How this was called, without the folders of one machine."""
    kept = [part for number, part in enumerate(arguments) if not {part, *arguments[max(0, number - 1) : number]} & FOLDERS]
    return " ".join(("benchmarks/turns.py", *kept))


def measure(asked: argparse.Namespace) -> list[Path]:
    """Runs everything; the files it left."""
    chosen = sizes(asked)
    material = compare.prepare(asked.folder / "clips", SHARED, chosen)
    systems = [name for name in SYSTEMS if not asked.only or name in asked.only]
    pythons = {name: python_of(name, asked.venvs) for name in systems}
    done = []
    about = asked.folder / "machine.json"
    about.write_text(json.dumps({**compare.machine(), "command": command(sys.argv[1:])}, indent=1))
    for name, python in pythons.items():
        if python is None:
            continue
        plans = [("default", material.plan)]
        if not asked.quick:
            plan = material.plan
            made = tuple(clip for clip in plan.pauses if clip.pauses)
            equal = replace(plan, notes=(), barge=(), noises=(), murmurs=(), waits=plan.waits[:: 1 if asked.full else 4])
            plans.append((EQUAL, equal if asked.full else replace(equal, pauses=made)))
        if chosen.calls:
            plans.append(("default", replace(material.plan, calls=chosen.calls)))
        for setting, plan in plans:
            out = asked.folder / f"{name}-{setting}{'-calls' if plan.calls else ''}.json"
            cores = {0} if plan.calls else None
            if compare.run(replace(material, plan=plan), python, name, setting, out, cores=cores):
                done.append(out)
    return done


def main() -> None:
    """Measures, and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two turns each, to see that everything runs")
    parser.add_argument("--full", action="store_true", help="24 turns, 60 pauses, 24 interruptions")
    parser.add_argument("--only", nargs="*", choices=SYSTEMS, help="these systems only")
    parser.add_argument("--folder", type=Path, default=CACHE / "runs", help="where results go")
    parser.add_argument("--venvs", type=Path, default=CACHE / "venvs", help="where the peers' environments are")
    parser.add_argument("--report", action="store_true", help="write docs/turns-report.md and its plots")
    parser.add_argument("--judge", action="store_true", help="measure nothing: tables from the results in the folder")
    parser.add_argument("--calls", type=lambda text: tuple(map(int, text.split(","))), help="so many at once on one core: 1,2,4")
    for name in ("waits", "notes", "pauses", "barge", "noises", "murmurs"):
        parser.add_argument(f"--{name}", type=int, help=f"how many {name} instead")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    if not asked.judge:
        measure(asked)
    tables = report.tables(report.read(asked.folder))
    print(tables)
    if asked.report:
        report.write(asked.folder, ROOT / "docs")


if __name__ == "__main__":
    main()
