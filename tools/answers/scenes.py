"""Scenes of open questions and what is said then, as they are written in `written/`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from voiceagent.judgment.answers.asked import AskedQuestion

_LABEL: Final = re.compile(r'^(?:none|(?P<id>\w+) (?:(?P<option>\d+)|"(?P<text>[^"]*)")(?P<unsure>\?)?)$')


@dataclass(frozen=True, slots=True)
class Case:
    """One utterance and what it is: an answer to `question_id` by an option (from 0) or in words of its own, or neither.

    `unsure`: an answer that is to be read back. `line` names where it is written.
    """

    line: str
    language: str
    questions: tuple[AskedQuestion, ...]
    utterance: str
    kind: str
    question_id: str | None
    option: int | None
    unsure: bool


def cases(path: Path) -> Iterator[Case]:
    """The cases of a file. Raises ValueError naming the line that cannot be read."""
    language, questions = "en", list[AskedQuestion]()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("="):
            language, questions = line.rpartition("|")[2].strip(), []
        elif "->" in line:
            yield _case(f"{path.name}:{number}", language, tuple(questions), line)
        else:
            questions.append(_question(line))


def _question(line: str) -> AskedQuestion:
    name, _, rest = line.partition(" ")
    question, *options = (part.strip() for part in rest.split("|"))
    return AskedQuestion(name.rstrip("*"), question, tuple(options), spoken_last=name.endswith("*"))


def _case(where: str, language: str, questions: tuple[AskedQuestion, ...], line: str) -> Case:
    utterance, _, rest = line.partition("->")
    label, _, kind = rest.partition("#")
    found = _LABEL.match(label.strip())
    if found is None or not questions:
        raise ValueError(f'{where}: expected `none`, `q1 2`, `q1 2?` or `q1 "words"`, not {label.strip()!r}')
    option = found["option"]
    return Case(
        where,
        language,
        questions,
        utterance.strip(),
        kind.strip() or "other",
        found["id"],
        int(option) - 1 if option else None,
        found["unsure"] is not None,
    )
