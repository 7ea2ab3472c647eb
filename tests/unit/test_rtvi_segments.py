"""An answer's sentences, however its words come, and how much of each was heard."""

from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from voiceagent.web.rtvi.segments import Segments


def made(*pieces: str) -> Segments:
    """An answer written in these pieces."""
    segments = Segments(count(1))
    for piece in pieces:
        segments.write(piece)
    return segments


def test_a_sentence_is_there_as_soon_as_it_is_certain_and_the_rest_with_the_message() -> None:
    segments = Segments(count(1))
    assert [one.text for one in segments.write("It is noon. Lunch")] == ["It is noon."]
    assert segments.write(" is ready.") == []
    assert [one.text for one in segments.end_message("It is noon. Lunch is ready.")] == ["Lunch is ready."]


def test_a_message_that_lost_pieces_is_put_right_under_the_same_numbers() -> None:
    segments = made("It is noon. ", "ready. ")
    changed = segments.end_message("It is noon. Lunch is ready. Come.")
    assert [(one.id, one.text) for one in changed] == [(2, "Lunch is ready."), (3, "Come.")]
    assert [(one.id, one.text) for one in segments.all] == [(1, "It is noon."), (2, "Lunch is ready."), (3, "Come.")]


def test_a_second_message_begins_behind_a_line_break() -> None:
    segments = made("One moment.")
    segments.end_message("One moment.")
    segments.write("It is noon.")
    segments.end_message("It is noon.")
    assert segments.hear(len("One moment.\n")) == [segments.all[0]]
    assert segments.hear(len("One moment.\nIt")) == [segments.all[1]]
    assert segments.all[1].heard == 2


def test_what_was_heard_is_never_taken_back() -> None:
    segments = made("It is noon.")
    segments.end_message("It is noon.")
    segments.hear(8)
    assert segments.hear(3) == []
    assert segments.all[0].heard == 8
    assert segments.hear_all() == [segments.all[0]]
    assert segments.all[0].status == "completed"


@given(st.lists(st.text(st.sampled_from("ab.! \n,"), max_size=12), max_size=12), st.integers(0, 200))
def test_sentences_are_pieces_of_the_answer_in_order_and_what_is_heard_of_them_adds_up(pieces: list[str], heard: int) -> None:
    text = "".join(pieces)
    segments = made(*pieces)
    segments.end_message(text)
    end = 0
    for one in segments.all:
        assert one.start >= end
        assert text[one.start : one.start + len(one.text)] == one.text
        end = one.start + len(one.text)
    segments.hear(heard)
    for one in segments.all:
        assert one.heard == max(0, min(len(one.text), heard - one.start))
    segments.hear_all()
    assert all(one.status == "completed" for one in segments.all)
