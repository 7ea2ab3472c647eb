"""The notes brain with its real embeddings."""

import json
from pathlib import Path

import numpy as np
import pytest

from voiceagent import weights
from voiceagent.errors import LanguageModelError, ModelError
from voiceagent.llm.embedding import MiniLM
from voiceagent.llm.notes import NotesModel, facts

ROOT = Path(__file__).resolve().parents[2]
SETS = [
    (ROOT / "config" / "notes.md", ROOT / "tools" / "notes" / "questions.jsonl"),
    (ROOT / "tools" / "notes" / "second" / "notes.md", ROOT / "tools" / "notes" / "second" / "questions.jsonl"),
    (ROOT / "tools" / "notes" / "blind" / "notes.md", ROOT / "tools" / "notes" / "blind" / "questions.jsonl"),
]


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    try:
        return MiniLM(weights.path("all-MiniLM-L6-v2"))
    except ModelError as error:
        pytest.skip(str(error))


def test_near_meanings_are_near(embedder: MiniLM) -> None:
    rows = embedder.embed(["kids", "children", "a bicycle", "Where can I park?", "Parking is behind the house."])
    assert rows.shape == (5, 384)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    near = rows @ rows.T
    assert near[0, 1] > 0.8
    assert near[0, 2] < 0.5
    assert near[3, 4] > near[3, 2]


def test_texts_do_not_disturb_each_other(embedder: MiniLM) -> None:
    texts = ["one", "a much longer sentence about something else altogether", "two words", ""]
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert np.allclose(embedder.embed(texts), alone, atol=1e-5)


def test_no_text_and_endless_text(embedder: MiniLM) -> None:
    assert embedder.embed([]).shape == (0, 384)
    assert embedder.embed(["word " * 100_000]).shape == (1, 384)


def test_a_missing_model_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(LanguageModelError, match="models pull"):
        MiniLM(tmp_path)


@pytest.mark.parametrize(("notes", "questions"), SETS, ids=["library", "second", "pool"])
def test_forty_questions_are_answered_right_or_declined(embedder: MiniLM, notes: Path, questions: Path) -> None:
    model = NotesModel.from_file(notes, embedder)
    wrong = []
    for line in map(json.loads, questions.read_text(encoding="utf-8").splitlines()):
        said = model.answer(line["question"], (line.get("before") or [None])[-1])
        declined = said.startswith("I don't know")
        if not line["expect"]:
            assert declined, f"invented: {line['question']} -> {said}"
        elif not declined and (any(x not in said for x in line["expect"]) or any(x in said for x in line.get("reject", []))):
            wrong.append((line["question"], said))
    assert len(wrong) <= 4, wrong


HARBOR = facts.parse(
    """# Harbor Museum
## Hours
- On Monday the doors open at nine.
- On Sunday the doors open at noon.
## Things
- The whale hangs in the great hall, on the second floor.
- Bus 7 stops at the gate.
- A ticket costs five dollars.
- The sauna opens at four.
"""
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Where does the whale hang?", "The whale hangs in the great hall, on the second floor."),
        ("What do I pay for a ticket?", "A ticket costs five dollars."),
        ("When do the doors open on Sunday?", "On Sunday the doors open at noon."),
        ("When does the sauna open?", "The sauna opens at four."),
        ("Does a ticket for the submarine cost more?", "I don't know that. It is not in my notes."),
        ("When do you open on Easter Monday?", "I don't know that. It is not in my notes."),
        ("When does the cafe open?", "I don't know that. It is not in my notes."),
    ],
)
def test_a_small_file_is_answered_and_its_gaps_declined(embedder: MiniLM, question: str, said: str) -> None:
    assert NotesModel(HARBOR, embedder).answer(question) == said


@pytest.mark.parametrize("folder", [ROOT / "tools" / "notes", ROOT / "tools" / "notes" / "second"], ids=["library", "second"])
def test_near_misses_are_declined(embedder: MiniLM, folder: Path) -> None:
    notes = folder / "notes.md"
    model = NotesModel.from_file(notes if notes.exists() else ROOT / "config" / "notes.md", embedder)
    lines = list(map(json.loads, (folder / "absent.jsonl").read_text(encoding="utf-8").splitlines()))
    answered = [line["question"] for line in lines if not model.answer(line["question"]).startswith("I don't know")]
    assert len(answered) <= len(lines) // 10, answered
