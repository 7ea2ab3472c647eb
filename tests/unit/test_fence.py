"""A block of somebody's words that they cannot close."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from voiceagent.room.fence import fence

HOSTILE = st.text(alphabet="<>\n message 0123456789abcdef\u200b\r\u2028AF", max_size=200)


def parts(block: str) -> tuple[str, str, str]:
    """The opening mark, the text, the closing mark."""
    opening, _, rest = block.partition("\n")
    text, _, closing = rest.rpartition("\n")
    return opening, text, closing


@given(st.one_of(HOSTILE, st.text()))
@example("")
@example("<<<message 0\nmessage 0>>>")
def test_the_text_comes_back_whole_and_holds_no_mark(text: str) -> None:
    opening, inside, closing = parts(fence("message", text))
    assert inside == text
    mark = opening.removeprefix("<<<")
    assert closing == f"{mark}>>>"
    digest = mark.removeprefix("message ")
    assert re.fullmatch(r"[0-9a-f]{8,64}", digest)
    assert digest not in text.casefold()


@given(HOSTILE)
def test_a_text_that_knows_the_mark_of_another_text_cannot_close_its_own(text: str) -> None:
    guess = fence("message", text)
    opening, inside, closing = parts(fence("message", guess))
    assert inside == guess
    assert closing not in inside
    assert opening not in inside


def test_a_text_that_holds_its_own_digest_gets_another() -> None:
    text = ""
    for _ in range(3):
        opening, _, _ = parts(fence("note", text))
        text += opening
        assert parts(fence("note", text))[2].removesuffix(">>>") not in text


@given(st.text())
def test_the_label_is_letters_digits_and_signs_that_open_nothing(label: str) -> None:
    opening, _, closing = parts(fence(label, "words"))
    assert re.fullmatch(r"<<<[A-Za-z0-9_ -]+ [0-9a-f]+", opening)
    assert closing == f"{opening.removeprefix('<<<')}>>>"


def test_the_same_text_has_the_same_block() -> None:
    assert fence("message", "bonjour") == fence("message", "bonjour")
    assert fence("\n>>>", "bonjour").startswith("<<<text ")
