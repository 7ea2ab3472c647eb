"""A turn as a line of an evaluation set."""

import json

from tests.unit.turns import CUT, turn
from voiceagent.judgment.line import HISTORY, LONGEST, line_of
from voiceagent.judgment.listening import Request
from voiceagent.judgment.thought import Thought


def test_a_plain_turn_has_what_every_line_has() -> None:
    line = line_of(turn("Nova?", recent=[("Bo", "Hm."), (None, "Yes?")]), "Nova", None)
    assert line == {
        "id": "e",
        "agent": "Nova",
        "people": ["Ana", "Bo"],
        "history": [{"speaker": "Bo", "text": "Hm."}, {"speaker": "Nova", "text": "Yes?"}],
        "last": {"speaker": "Ana", "text": "Nova?"},
    }


def test_state_is_added_where_it_applies() -> None:
    thought = Thought("They search.", ("It is blue.",), urgent=True)
    line = line_of(turn(thought=thought, cut=CUT), "Nova", Request("Bo", "just listen"))
    assert line["listening"] == {"speaker": "Bo", "text": "just listen"}
    assert line["cut"] == {"text": CUT.text, "played_ms": 1_250}
    assert line["thought"] == {"text": "They search.", "want_to_say": ["It is blue."], "urgent": True}
    assert json.loads(json.dumps(line)) == line
    assert "thought" not in line_of(turn(thought=Thought()), "Nova", None)


def test_history_and_texts_are_bounded() -> None:
    line = line_of(turn("x" * 5_000, recent=[("Bo", f"turn {n}") for n in range(9)], speaker=None), "Nova", None)
    history, last = line["history"], line["last"]
    assert isinstance(history, list) and isinstance(last, dict)
    assert len(history) == HISTORY
    assert history[-1] == {"speaker": "Bo", "text": "turn 8"}
    assert last == {"speaker": "someone", "text": "x" * LONGEST}
