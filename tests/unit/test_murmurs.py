"""What words spoken over the agent are taken for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.judgment.classifier.backchannel import ACCEPTING, FOLLOWING, Backchannels
from voiceagent.voice.detector import Overlap, PhraseBackchannelDetector
from voiceagent.voice.murmurs import STOPS, Kind, Murmurs, kind_of

BACKCHANNELS = (
    *(
        "mm-hm",
        "Mm-hmm.",
        "mhm",
        "Mhmmm",
        "uh-huh",
        "Uh huh.",
        "right",
        "Right, right.",
        "okay",
        "Okaaay",
        "OK.",
        "yeah",
        "Yeah...",
    ),
    *(
        "yeah yeah yeah",
        "sure",
        "got it",
        "Got it, thanks.",
        "I see",
        "mmmm",
        "Hmm.",
        "Emm, emm.",
        "oh wow",
        "all right",
        "Alright, good.",
    ),
    *(
        "d'accord",
        "D\u2019accord.",
        "oui oui",
        "Ouais.",
        "hum",
        "hum hum",
        "bien sûr",
        "Tres bien",
        "ah bon",
        "voilà",
        "ah oui",
    ),
    *("vale", "Claro.", "sí sí", "si, si", "ajá", "Aja", "ya veo", "de acuerdo", "¡Claro!", "muy bien"),
    *("haha", "Ha ha ha!", "hahaha", "jajaja", "hehe", "um", "Uh.", "euh", "Okay. [laughs]", "(coughs) mhm", "Sure, go on."),
)
WORDS = (
    *(
        "mm-mm",
        "Mm mm.",
        "Mmm-mmm.",
        "uh-uh",
        "Nuh-uh.",
        "no",
        "No no.",
        "okay and Montreal",
        "Okay, and Montreal?",
        "right turn",
    ),
    *("where is the bus stop", "I missed the last stop", "does it stop there?", "and what about parking?", "non", "pas du tout"),
    *(
        "yeah yeah yeah yeah yeah",
        "okay okay okay okay okay",
        "Right?",
        "Okay?",
        "Hmm?",
        "¿Vale?",
        "he",
        "he said so",
        "yes it is",
    ),
    *("y el lunes?", "d'accord mais pour demain", "claro que no", "I see you there", "thank you very much"),
)
STOPPING = (
    *(
        "stop",
        "Stop.",
        "STOP!",
        "Stop it.",
        "stoooop",
        "wait",
        "Wait, wait, wait.",
        "Wait, and for Montreal?",
        "hold on",
        "Hang on a sec.",
    ),
    *("be quiet", "please stop", "No, stop.", "Okay okay, stop.", "oh wait", "Nova, stop!", "Thanks, that's enough.", "shut up"),
    *(
        "arrête",
        "Arrete !",
        "attends",
        "Attendez, s'il vous plaît",
        "non, attends",
        "tais-toi",
        "Mais arrête.",
        "stop stop",
    ),
    *("para", "¡Espera!", "espera un momento", "cállate", "Callate.", "no, para", "basta", "por favor espera"),
)
NOTHING = ("", "  ", "...", "?!", "[BLANK_AUDIO]", "(coughing)", "*laughs*", "♪", "…")
PENDING = (
    "ok",
    "okay",
    "Ou",
    "mm",
    "M",
    "uh",
    "right",
    "i",
    "ye",
    "d'acc",
    "cla",
    "sí",
    "oh wo",
    "okay ri",
    "mm-",
    "Hum",
    "um",
    "Okay?",
)
NO_LONGER = ("okay and", "Ou est", "no", "mon", "right turn", "what", "yes it", "where is the bus stop", "okay okay okay okay o")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((text, "backchannel") for text in BACKCHANNELS),
        *((text, "words") for text in WORDS),
        *((text, "stop") for text in STOPPING),
        *((text, "nothing") for text in NOTHING),
    ],
)
def test_what_whole_words_are(text: str, kind: Kind) -> None:
    assert kind_of(text, final=True) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((text, "pending") for text in PENDING),
        *((text, "words") for text in NO_LONGER),
        *((text, "stop") for text in STOPPING),
        *((text, "nothing") for text in NOTHING),
    ],
)
def test_what_unfinished_words_are(text: str, kind: Kind) -> None:
    assert kind_of(text, final=False) == kind


@given(st.sampled_from((*FOLLOWING, *ACCEPTING)).flatmap(lambda sign: st.tuples(st.just(sign), st.integers(1, len(sign)))))
def test_every_beginning_of_a_backchannel_is_waited_for(cut: tuple[str, int]) -> None:
    sign, letters = cut
    assert kind_of(sign[:letters], final=False) in {"pending", "nothing"}


@given(st.text())
def test_any_text_is_something_and_unfinished_words_are_never_settled_as_a_backchannel(text: str) -> None:
    assert kind_of(text, final=True) != "pending"
    assert kind_of(text, final=False) != "backchannel"
    assert (kind_of(text, final=True) == "nothing") == (kind_of(text, final=False) == "nothing")


def test_the_lists_can_be_replaced() -> None:
    ours = Murmurs(backchannels=("genau",), stops=("halt",))
    assert [ours.kind_of(text, final=True) for text in ("Genau!", "Halt, bitte", "okay", "stop")] == [
        "backchannel",
        "stop",
        "words",
        "words",
    ]
    assert ours.kind_of("gen", final=False) == "pending"


def test_no_phrase_is_both_a_sign_and_a_stop() -> None:
    assert [stop for stops in STOPS.values() for stop in stops if kind_of(stop, final=True) != "stop"] == []
    assert [sign for sign in (*FOLLOWING, *ACCEPTING) if kind_of(sign, final=True) != "backchannel"] == []


@pytest.mark.parametrize("text", ["mm-mm", "Mmm-mmm.", "uh-uh", "nuh-uh"])
def test_a_hummed_no_is_no_backchannel_to_the_room_either(text: str) -> None:
    assert not Backchannels().is_one(text)
    assert Backchannels().is_one("mm-hm")


def over(text: str, *, final: bool) -> Overlap:
    return Overlap(text, final, 300, 400, np.zeros(6400, dtype=np.int16), "We are open until ten.")


@pytest.mark.parametrize(
    ("text", "final", "wants"),
    [
        ("okay", True, False),
        ("okay", False, None),
        ("Ou", False, None),
        ("okay and Montreal", False, True),
        ("stop", False, True),
        ("mm-mm", True, True),
        ("", True, None),
    ],
)
async def test_the_detector_by_phrases(text: str, final: bool, wants: bool | None) -> None:
    assert await PhraseBackchannelDetector().judge(over(text, final=final)) is wants


async def test_a_voice_without_words_can_be_kept_from_cutting() -> None:
    detector = PhraseBackchannelDetector(cut_without_words=False)
    assert await detector.judge(over("", final=False)) is False
    assert await detector.judge(over("what", final=False)) is True


@pytest.mark.parametrize(
    ("text", "only"),
    [
        *(
            ("Stop.", True),
            ("Stop, stop!", True),
            ("No, wait.", True),
            ("please stop it", True),
            ("Okay, stop.", True),
            ("Arrête !", True),
        ),
        *(("Espera, espera.", True), ("hey, hold on", True), ("No.", False), ("Okay.", False), ("", False), ("...", False)),
        *(("Wait, and for Montreal?", False), ("stop the music", False), ("Stop. What about tomorrow?", False)),
    ],
)
def test_whether_nothing_but_a_stop_is_said(text: str, only: bool) -> None:
    assert Murmurs().only_stops(text) is only
