"""Staying quiet when asked, as a state of the room: statements 81 to 87, and any order of what can happen."""

import asyncio
from collections.abc import Mapping

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.unit.turns import CUT, run, turn
from voiceagent.judgment.classifier.mock import MockClassifier, Script
from voiceagent.judgment.classifier.question import Answers, ClassifierError, Question, State
from voiceagent.judgment.judged import ClassifierSpeakPolicy
from voiceagent.judgment.listening import LONGEST, Request
from voiceagent.judgment.policy import SpeakDecision

ROOMS = ("r", "s")


class Given:
    """Answers as the test last said; an error when it said None."""

    def __init__(self) -> None:
        self.script: Script | None = {}
        self.asked: tuple[State, Mapping[str, Question]] = ({}, {})

    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        self.asked = state, questions
        if self.script is None:
            raise ClassifierError("down")
        return await MockClassifier(self.script).classify(state, questions)

    async def close(self) -> None: ...


def policy() -> tuple[ClassifierSpeakPolicy, Given]:
    given = Given()
    return ClassifierSpeakPolicy(given, agent_name="Nova", languages={"English": "Answer in English."}), given


def test_s07_81_the_request_is_kept_and_sent() -> None:
    made, given = policy()
    given.script = {"listen_request": 0.5, "directness": 3.0, "request": 1.0}
    decision = run(made.decide(turn("Nova,  just\nlisten", speaker="Bo")))
    assert (decision.mode, decision.reason, decision.final) == ("silent", "asked to listen", True)
    given.script = {}
    run(made.decide(turn()))
    assert given.asked[0]["agent"] == {"name": "Nova", "listening_only": {"speaker": "Bo", "text": "Nova, just listen"}}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("word " * 60, ("word " * 40).strip()),
        ("w" * 200 + " more", "w" * 200),
        ("w" * 199 + " more", "w" * 199),
        ("a " + "w" * 198 + " more", "a " + "w" * 198),
        ("w" * 300, "w" * 200),
        ("short", "short"),
    ],
)
def test_s07_81_the_request_is_cut_between_words(text: str, kept: str) -> None:
    assert Request.of("Ana", text) == Request("Ana", kept)
    assert len(kept) <= LONGEST


def test_s07_83_a_question_to_itself_is_answered_and_the_room_listens_on() -> None:
    made, given = policy()
    given.script = {"listen_request": 1.0}
    run(made.decide(turn()))
    given.script = {"asked_me": 0.5, "directness": 2.0, "language": "English"}
    decision = run(made.decide(turn("Nova, what is the URL?")))
    assert (decision.mode, decision.reason, decision.notes) == ("speak", "asked while listening", ("Answer in English.",))
    assert decision.judgments["listening"] == 1.0
    assert made.listening("r") is not None


def test_s07_84_a_turn_that_lifts_it_is_decided_as_any() -> None:
    made, given = policy()
    for script, mode in (
        ({"lift": 0.5, "directness": 1.5}, "speak"),
        ({"lift": 0.5}, "silent"),
        ({"lift": 1.0, "hush": 1.0}, "silent"),
    ):
        given.script = {"listen_request": 1.0}
        run(made.decide(turn()))
        given.script = script
        decision = run(made.decide(turn()))
        assert (decision.mode, decision.final) == (mode, False)
        assert made.listening("r") is None


def test_s07_86_what_happens_during_a_call_does_not_change_its_turn() -> None:
    async def overlapping() -> tuple[SpeakDecision, SpeakDecision]:
        going, release = asyncio.Event(), asyncio.Event()

        class Slow:
            async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
                if "slow" in str(state["last_turn"]):
                    going.set()
                    await release.wait()
                    return await MockClassifier({"directness": 3.0}).classify(state, questions)
                return await MockClassifier({"listen_request": 1.0}).classify(state, questions)

            async def close(self) -> None: ...

        made = ClassifierSpeakPolicy(Slow(), agent_name="Nova")
        async with asyncio.TaskGroup() as group:
            slow = group.create_task(made.decide(turn("slow")))
            await going.wait()
            asked = await made.decide(turn("just listen"))
            release.set()
        return slow.result(), asked

    slow, asked = run(overlapping())
    assert (slow.mode, slow.reason) == ("speak", "addressed")
    assert asked.reason == "asked to listen"


class Listening(RuleBasedStateMachine):
    """Two rooms; `quiet` is what the seed says of them."""

    def __init__(self) -> None:
        super().__init__()
        self.policy, self.given = policy()
        self.quiet: dict[str, bool] = dict.fromkeys(ROOMS, False)

    def decide(self, room: str, script: Script | None, text: str = "well") -> SpeakDecision:
        self.given.script = script
        return run(self.policy.decide(turn(text, room=room, cut=CUT)))

    @rule(
        room=st.sampled_from(ROOMS),
        numbers=st.fixed_dictionaries(
            {},
            optional={
                **dict.fromkeys(
                    ("unfinished", "deferred", "hush", "request", "answered", "listen_request", "asked_me", "lift", "resume"),
                    st.sampled_from((0.0, 0.39, 0.4, 0.49, 0.5, 1.0)),
                ),
                "directness": st.sampled_from((0.0, 0.75, 1.5, 1.9, 2.0, 3.0)),
            },
        ),
    )
    def somebody_speaks(self, room: str, numbers: dict[str, float]) -> None:
        was_quiet = self.quiet[room]
        decision = self.decide(room, numbers)
        held = any(numbers.get(name, 0.0) >= 0.5 for name in ("unfinished", "deferred", "hush"))
        if was_quiet:
            assert decision.judgments["listening"] == 1.0
            assert decision.reason != "resume after cut"
            self.quiet[room] = numbers.get("lift", 0.0) < 0.5
            if self.quiet[room]:
                asked = numbers.get("asked_me", 0.0) >= 0.5 and numbers.get("directness", 0.0) >= 2.0 and not held
                assert decision.mode == ("speak" if asked else "silent")
                assert decision.final is not asked
        else:
            assert "listening" not in decision.judgments
            self.quiet[room] = numbers.get("listen_request", 0.0) >= 0.5
            assert decision.final is self.quiet[room]
            if self.quiet[room]:
                assert decision.reason == "asked to listen"

    @rule(room=st.sampled_from(ROOMS), text=st.sampled_from(("", "well")))
    def the_turn_cannot_be_judged(self, room: str, text: str) -> None:
        if self.quiet[room]:
            decision = self.decide(room, None, text)
            assert (decision.mode, decision.reason, decision.final) == ("silent", "listening", True)
        elif text:
            with pytest.raises(ClassifierError):
                self.decide(room, None, text)
        else:
            assert self.decide(room, None, text).reason == "nothing to judge"

    @rule(room=st.sampled_from(ROOMS))
    def the_room_begins_anew(self, room: str) -> None:
        self.policy.forget_room(room)
        self.quiet[room] = False

    @invariant()
    def each_room_is_as_the_seed_says(self) -> None:
        assert {room: self.policy.listening(room) is not None for room in ROOMS} == self.quiet


TestListening = Listening.TestCase
TestListening.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
