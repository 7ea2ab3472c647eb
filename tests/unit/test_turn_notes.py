"""Notes of the host for one turn."""

from voiceagent.agent.notes import add_turn_note
from voiceagent.llm.model import NOTE_MARK, Message

TALK = (
    Message("user", "hello"),
    Message("assistant", "hi"),
    Message("user", "and now?"),
    Message("tool", "42", tool_call_id="c"),
)


def test_a_note_hangs_on_the_last_words_of_a_person() -> None:
    noted = add_turn_note(TALK, "Be brief.")
    assert [m.notes for m in noted] == [(), (), ("Be brief.",), ()]
    assert [m.content for m in noted] == [m.content for m in TALK]
    assert noted[2].rendered() == f"and now?\n\n{NOTE_MARK}\nBe brief."


def test_notes_keep_their_order() -> None:
    assert add_turn_note(add_turn_note(TALK, "one"), "two")[2].notes == ("one", "two")


def test_the_messages_given_stay_as_they_were() -> None:
    messages = list(TALK)
    add_turn_note(messages, "Be brief.")
    assert tuple(messages) == TALK


def test_without_words_of_a_person_the_note_stands_alone() -> None:
    assert add_turn_note([Message("assistant", "hi")], "Be brief.") == [
        Message("assistant", "hi"),
        Message("user", "", notes=("Be brief.",)),
    ]
    assert add_turn_note([], "Be brief.") == [Message("user", "", notes=("Be brief.",))]
