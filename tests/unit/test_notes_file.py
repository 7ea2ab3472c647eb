"""A notes file read into facts."""

from pathlib import Path

import pytest

from voiceagent.errors import LanguageModelError
from voiceagent.llm.notes import facts


def texts(markdown: str) -> list[str]:
    return [fact.text for fact in facts.parse(markdown).facts]


def test_bullets_paragraphs_and_pairs_are_facts_under_their_headings() -> None:
    notes = facts.parse(
        "# The Shop\n\nWe sell tea.\nAnd coffee.\n\n## Hours\n- Open at nine.\n* Closed on\n  Sunday.\n1. Late on Friday.\n\n"
        "## Paying\nQ: Can I pay by card?\nQ: Cards?\nA: Yes, by any card.\nCash too.\n"
    )
    assert notes.title == "The Shop"
    assert notes.headings == ("Hours", "Paying")
    assert [(fact.heading, fact.text) for fact in notes.facts] == [
        ("", "We sell tea. And coffee."),
        ("Hours", "Open at nine."),
        ("Hours", "Closed on Sunday."),
        ("Hours", "Late on Friday."),
        ("Paying", "Yes, by any card. Cash too."),
    ]
    assert notes.facts[-1].cues == ("Can I pay by card?", "Cards?", "Yes, by any card. Cash too.")


def test_marks_links_comments_and_rules_are_not_spoken() -> None:
    assert texts("<!-- not\nthis -->\n- **Tea** is [here](http://x.example), `hot`.\n\n---\n\n_Milk_ is extra.") == [
        "Tea is here, hot.",
        "Milk is extra.",
    ]


def test_a_question_without_an_answer_is_no_fact() -> None:
    assert texts("Q: Why?\n\n- Tea is hot.") == ["Tea is hot."]


def test_a_long_paragraph_is_cut_between_sentences() -> None:
    paragraph = " ".join(f"Sentence number {number} says something of middling length about tea." for number in range(12))
    parts = texts(paragraph)
    assert " ".join(parts) == paragraph
    assert len(parts) > 2
    assert max(map(len, parts)) <= 240


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\x89PNG\0\0", "binary"),
        (b"caf\xe9", "UTF-8"),
        (b"# Only a title\n", "no facts"),
        (b"", "no facts"),
        (b"- a\n" * 2001, "2000"),
        (b"x" * (facts.MAX_BYTES + 1), "larger"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_name(tmp_path: Path, content: bytes, told: str) -> None:
    file = tmp_path / "desk.md"
    file.write_bytes(content)
    with pytest.raises(LanguageModelError, match=told) as caught:
        facts.read(file)
    assert "desk.md" in str(caught.value)


def test_a_missing_file_or_a_folder_is_refused_by_name(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.md", tmp_path):
        with pytest.raises(LanguageModelError, match=path.name):
            facts.read(path)
