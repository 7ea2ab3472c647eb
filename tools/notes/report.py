"""Asks the notes brain its spoken questions, through a voice and a recognizer, and writes docs/notes-report.md.

    python -m tools.notes.report [--typed]

Each question is spoken by Piper, heard by Whisper tiny.en and answered by NotesModel with weights that were fitted without the
file it is asked about (tools/notes/fit.py). Set OPENBLAS_NUM_THREADS=1, as the package's own command does. An answer is right
when it holds every text of `expect` and none of `reject`; a question whose `expect` is empty is right only when it is declined.
"""

import argparse
import asyncio
import json
import statistics
import time
from dataclasses import dataclass, replace
from pathlib import Path

from tools.notes.fit import WRONG, cases, figures, fit, left_out, threshold
from tools.notes.hear import Ears, real_ears
from voiceagent import weights
from voiceagent.llm.embedding import MiniLM
from voiceagent.llm.notes import NotesModel, facts

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "docs" / "notes-report.md"
TOOLS = ROOT / "tools" / "notes"
SETS = (
    ("The library", "library", ROOT / "config" / "notes.md", TOOLS),
    ("A bicycle workshop", "workshop", TOOLS / "second" / "notes.md", TOOLS / "second"),
    ("A swimming pool, by a writer who had not seen the code", "blind", TOOLS / "blind" / "notes.md", TOOLS / "blind"),
)
DECLINES = "I don't know"


@dataclass(frozen=True)
class Question:
    """One line of a question file."""

    id: int
    kind: str
    question: str
    expect: tuple[str, ...]
    reject: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    """What came of one question: what the recognizer heard, what was said, and the CPU time it took."""

    asked: Question
    heard: str
    said: str
    cpu_ms: float

    @property
    def verdict(self) -> str:
        """right, declined, wrong, or invented (an answer to what the notes do not hold)."""
        declined = self.said.startswith(DECLINES)
        if not self.asked.expect:
            return "right" if declined else "invented"
        if declined:
            return "declined"
        good = all(text in self.said for text in self.asked.expect) and not any(text in self.said for text in self.asked.reject)
        return "right" if good else "wrong"


async def ask(model: NotesModel, ears: Ears, question: Question) -> Result:
    """One question, with the turn before it where there is one."""
    before = await ears.hear(question.before[-1]) if question.before else None
    heard = await ears.hear(question.question)
    started = time.thread_time()
    said = model.answer(heard, before)
    return Result(question, heard, said, 1000 * (time.thread_time() - started))


def read(path: Path) -> list[Question]:
    """The questions of a file, in order."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Question(
            id=line["id"],
            kind=line["kind"],
            question=line["question"],
            expect=tuple(line["expect"]),
            reject=tuple(line.get("reject", ())),
            before=tuple(line.get("before", ())),
        )
        for line in lines
    ]


def section(title: str, facts: int, results: list[Result]) -> str:
    """One set's part of the report."""
    count = {name: sum(result.verdict == name for result in results) for name in ("right", "declined", "wrong", "invented")}
    there = [result for result in results if result.asked.expect]
    absent = [result for result in results if not result.asked.expect]
    far = [result for result in there if result.asked.kind == "far"]
    times = sorted(result.cpu_ms for result in results)
    lines = [
        f"## {title}",
        "",
        f"{len(results)} questions on {facts} facts: **{count['right'] + count['declined']} right or declined**, "
        f"{count['wrong']} answered with the wrong fact, {count['invented']} of {len(absent)} absent facts answered.",
        "",
        f"- Of {len(there)} questions that the notes answer: {sum(r.verdict == 'right' for r in there)} right, "
        f"{count['declined']} declined, {count['wrong']} wrong.",
        f"- Of these, {len(far)} paraphrased far: {sum(r.verdict == 'right' for r in far)} right.",
        f"- CPU time of an answer: median {statistics.median(times):.0f} ms, slowest {times[-1]:.0f} ms.",
        "",
        "| # | kind | heard | verdict | said |",
        "|---:|---|---|---|---|",
    ]
    rows = [f"| {r.asked.id} | {r.asked.kind} | {r.heard} | {r.verdict} | {r.said} |" for r in results]
    return "\n".join([*lines, *rows, ""])


def near_misses(results: list[Result]) -> str:
    """The part on things that the notes do not hold, asked for in the notes' own words; only what was answered is listed."""
    lines = ["### Near misses", ""]
    for kind, about in (("chosen on", "that the threshold was chosen on"), ("fresh", "written afterwards")):
        of_kind = [result for result in results if result.asked.kind == kind]
        answered = [result for result in of_kind if result.verdict == "invented"]
        lines.append(f"- Of {len(of_kind)} {about}, {len(answered)} got a fact that does not answer them.")
        lines += [f"  - {result.heard} \u2192 {result.said}" for result in answered]
    return "\n".join([*lines, ""])


async def main() -> None:
    """Runs every set and writes the report."""
    parser = argparse.ArgumentParser(description="Ask the notes brain its spoken questions.")
    parser.add_argument("--typed", action="store_true", help="without voice and recognizer; prints, and leaves the report alone")
    typed = parser.parse_args().typed
    ears = Ears(None, None) if typed else real_ears()
    embedder = MiniLM(weights.path("all-MiniLM-L6-v2"))
    parts = [(ROOT / "tools" / "notes" / "head.md").read_text(encoding="utf-8")]
    known = cases()
    outcomes = left_out(known)
    at = threshold(outcomes, WRONG)
    files = len({case.file for case in known})
    many = f"{len(outcomes)} questions on {files} files, typed and heard; the threshold is {at:.2f}."
    parts.append(f"## Every file left out once\n\n{many}\n\n{figures(outcomes, at)}\n")
    for title, name, notes, folder in SETS:
        scale = replace(fit([case for case in known if case.file != name]), threshold=at)
        model = NotesModel(facts.read(notes), embedder, scale)
        results = [await ask(model, ears, question) for question in read(folder / "questions.jsonl")]
        parts.append(section(title, model.size, results))
        misses = folder / "absent.jsonl"
        if misses.exists():
            parts.append(near_misses([await ask(model, ears, question) for question in read(misses)]))
    if typed:
        print("\n".join(parts))
    else:
        REPORT.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
