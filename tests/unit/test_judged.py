"""The policy on judgments: what is asked and sent in each state, and what comes of it (statements 69 to 80 and 108, 109)."""

import asyncio
from collections.abc import Mapping

import pytest

from tests.unit.turns import CUT, answers, run, turn
from voiceagent.judgment.classifier.mock import MockClassifier, Script
from voiceagent.judgment.classifier.question import Answers, ClassifierError, Question, ScoreQuestion, State, YesNoQuestion
from voiceagent.judgment.classifier.questions import QUESTIONS
from voiceagent.judgment.judged import ClassifierSpeakPolicy, Judging
from voiceagent.judgment.policy import SpeakDecision, SpeakTurn
from voiceagent.judgment.thought import Thought

ALWAYS = ["directness", "deferred", "unfinished", "hush", "request", "answered"]
THOUGHT = Thought("About Tuesday.", ("It is on Tuesday.",), urgent=True)
LANGUAGES = {"English": "Answer in English.", "Français": "Réponds en français."}
LISTEN: Script = {"listen_request": 1.0}


class Asleep:
    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        await asyncio.Event().wait()
        raise AssertionError

    async def close(self) -> None: ...


class Rubbish:
    def __init__(self, given: object) -> None:
        self.given = given

    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        return self.given  # type: ignore[return-value]

    async def close(self) -> None: ...


def policy(*scripts: Script, **options: object) -> tuple[ClassifierSpeakPolicy, MockClassifier]:
    classifier = MockClassifier(scripts)
    return ClassifierSpeakPolicy(classifier, agent_name="Nova", **options), classifier  # type: ignore[arg-type]


def listening(classifier: object) -> ClassifierSpeakPolicy:
    """A policy whose room listens, and which `classifier` serves from then on."""
    first, then = MockClassifier(LISTEN), classifier

    class Both:
        async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
            return await (then if first.calls else first).classify(state, questions)  # type: ignore[attr-defined, no-any-return]

        async def close(self) -> None: ...

    made = ClassifierSpeakPolicy(Both(), agent_name="Nova", languages=LANGUAGES)
    run(made.decide(turn("Nova, just listen")))
    return made


@pytest.mark.parametrize(
    ("asked", "options", "more"),
    [
        (turn(), {}, ["listen_request"]),
        (turn(thought=Thought("Tuesday.")), {}, ["listen_request"]),
        (turn(thought=THOUGHT), {}, ["listen_request", "answers", "corrects"]),
        (turn(thought=THOUGHT), {"judging": Judging(hold_back=True)}, ["listen_request", "answers", "corrects", "waiting"]),
        (turn(cut=CUT), {}, ["listen_request", "resume"]),
        (
            turn(cut=CUT, thought=THOUGHT),
            {"languages": LANGUAGES},
            ["listen_request", "answers", "corrects", "resume", "language"],
        ),
    ],
)
def test_s07_69_what_is_asked_in_an_open_room(asked: SpeakTurn, options: Mapping[str, object], more: list[str]) -> None:
    made, classifier = policy(**options)
    run(made.decide(asked))
    [(_, questions)] = classifier.calls
    assert list(questions) == ALWAYS + more


def test_s07_69_what_is_asked_in_a_listening_room() -> None:
    made, classifier = policy(LISTEN, {})
    run(made.decide(turn()))
    run(made.decide(turn(cut=CUT, thought=THOUGHT)))
    assert list(classifier.calls[1][1]) == [*ALWAYS, "asked_me", "lift", "answers", "corrects"]
    assert "assistant_cut_off" not in classifier.calls[1][0]


def test_what_is_sent() -> None:
    made, classifier = policy(agent_role="the team's assistant")
    recent = [("Bo", "one"), (None, "two"), (None, " "), ("@sms1", "three")]
    run(made.decide(turn("four", recent=recent, thought=THOUGHT, cut=CUT)))
    assert classifier.calls[0][0] == {
        "agent": {"name": "Nova", "role": "the team's assistant"},
        "people": ["Ana", "Bo"],
        "recent_turns": [
            {"speaker": "Bo", "text": "one"},
            {"speaker": "Nova", "text": "two"},
            {"speaker": "@sms1", "text": "three"},
        ],
        "last_turn": {"speaker": "Ana", "text": "four"},
        "assistant_thought": {"thinking": "About Tuesday.", "want_to_say": ["It is on Tuesday."], "urgent": True},
        "assistant_cut_off": {"was_saying": CUT.text, "heard_seconds": 1.2},
    }


@pytest.mark.parametrize(("history", "sent"), [(6, "345678"), (2, "78"), (0, ""), (20, "012345678")])
def test_s07_74_the_last_turns_with_words(history: int, sent: str) -> None:
    recent = [entry for n in range(9) for entry in (("Bo", str(n)), ("Bo", " "))]
    made, classifier = policy(history=history)
    run(made.decide(turn(recent=recent)))
    turns = classifier.calls[0][0]["recent_turns"]
    assert "".join(one["text"] for one in turns) == sent  # type: ignore[union-attr, index, call-overload, misc]


def test_every_text_that_is_sent_is_bounded() -> None:
    made, classifier = policy()
    wordy = Thought("t" * 5_000, ("w" * 5_000,))
    cut = CUT.__class__("c" * 5_000, 1, CUT.at)
    run(made.decide(turn("l" * 5_000 + "?", recent=[("Bo", "r" * 5_000)], thought=wordy, cut=cut)))
    sent = classifier.calls[0][0]
    assert len(str(sent)) < 6_500
    assert sent["last_turn"]["text"].endswith("l?")  # type: ignore[index, union-attr, call-overload]


def test_s07_72_a_turn_without_text_is_not_judged() -> None:
    made, classifier = policy()
    assert run(made.decide(turn(" \n"))) == SpeakDecision("speak", "nothing to judge")
    assert classifier.calls == []
    quiet = listening(MockClassifier())
    assert run(quiet.decide(turn(""))) == SpeakDecision("silent", "listening", {"listening": 1.0}, final=True)


FAULTS = [
    MockClassifier(error=ClassifierError("no")),
    MockClassifier(error=RuntimeError("a bug")),
    Asleep(),
    Rubbish(None),
    Rubbish({"directness": 3.0}),
    Rubbish(answers({"hush": "yes"}, directness=3.0)),
]


@pytest.mark.parametrize("classifier", FAULTS)
def test_s07_73_a_failing_classifier_raises_in_an_open_room(classifier: object) -> None:
    made = ClassifierSpeakPolicy(classifier, agent_name="Nova")  # type: ignore[arg-type]
    with pytest.raises((ClassifierError, RuntimeError, AttributeError, TypeError)):
        run(made.decide(turn()))


@pytest.mark.parametrize("classifier", FAULTS)
def test_s07_73_a_failing_classifier_leaves_a_listening_room_quiet(classifier: object) -> None:
    made = listening(classifier)
    decision = run(made.decide(turn("Nova?")))
    assert (decision.mode, decision.reason, decision.final) == ("silent", "listening", True)
    assert decision.judgments["listening"] == 1.0
    assert made.listening("r") is not None


def test_a_slow_classifier_is_a_failed_one_and_no_timeout_of_the_channels() -> None:
    made = ClassifierSpeakPolicy(Asleep(), agent_name="Nova", judging=Judging(wait=0.7))
    with pytest.raises(ClassifierError, match=r"0\.7 s"):
        run(made.decide(turn()))


@pytest.mark.parametrize("wrong", [{"history": -1}, {"wait": 0.0}, {"wait": float("inf")}, {"wait": float("nan")}])
def test_what_judging_refuses(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Judging(**wrong)  # type: ignore[arg-type]


def test_s07_75_a_language_adds_its_note_in_every_mode() -> None:
    for script in ({"directness": 3.0}, {"directness": 1.0}, {}):
        made, _ = policy({**script, "language": "Français"}, languages=LANGUAGES)
        decision = run(made.decide(turn()))
        assert decision.notes == ("Réponds en français.",)
        assert decision.judgments["language=Français"] == 1.0


def test_s07_75_another_language_adds_none() -> None:
    made, _ = policy({"directness": 3.0, "language": "other"}, languages=LANGUAGES)
    assert run(made.decide(turn())).notes == ()
    with pytest.raises(ValueError, match="other"):
        policy(languages={"Other ": "?"})


def test_s07_76_without_languages_none_is_asked() -> None:
    made, classifier = policy(languages={})
    run(made.decide(turn()))
    assert "language" not in classifier.calls[0][1]


@pytest.mark.parametrize("proactivity", [0.0, 1.5])
def test_s07_77_proactivity_is_checked(proactivity: float) -> None:
    with pytest.raises(ValueError, match="proactivity"):
        policy(proactivity=proactivity)


def test_s07_78_a_question_is_more_than_its_words() -> None:
    with pytest.raises(TypeError, match="urgency"):
        policy(questions={"urgency": "How urgent is it?"})


def test_s07_78_a_question_replaced_and_one_added() -> None:
    mine, urgency = YesNoQuestion("Is it me?"), ScoreQuestion("How urgent?", ("not", "soon", "now"))
    made, classifier = policy({"urgency": 2.0}, questions={"request": mine, "urgency": urgency, "resume": mine, "lift": mine})
    decision = run(made.decide(turn()))
    asked = classifier.calls[0][1]
    assert asked["request"] is mine
    assert asked["urgency"] is urgency
    assert "resume" not in asked
    assert "lift" not in asked
    assert asked["directness"] is QUESTIONS["directness"]
    assert decision.judgments["urgency"] == 2.0


def test_the_rules_can_be_overridden() -> None:
    class Urgent(ClassifierSpeakPolicy):
        def decision(self, turn: SpeakTurn, answers: Answers) -> SpeakDecision:
            decision = super().decision(turn, answers)
            if decision.mode == "silent" and answers.score("urgency") >= 1.5:
                return SpeakDecision("speak", "urgent", decision.judgments, decision.notes)
            return decision

    questions = {"urgency": ScoreQuestion("How urgent is `last_turn`?", ("not", "soon", "now"))}
    made = Urgent(MockClassifier({"urgency": "now"}), agent_name="Nova", questions=questions)
    assert run(made.decide(turn())).reason == "urgent"


def test_s07_79_a_choice_is_reported_with_its_option() -> None:
    made, _ = policy({"language": "English"}, languages=LANGUAGES)
    assert run(made.decide(turn())).judgments["language=English"] == 1.0


def test_s07_108_109_going_on_after_a_cut() -> None:
    made, _ = policy({"resume": 0.4, "deferred": 1.0, "language": "English"}, languages=LANGUAGES)
    decision = run(made.decide(turn("mm-hm", cut=CUT)))
    assert (decision.mode, decision.reason) == ("speak", "resume after cut")
    assert "1.2 seconds" in decision.notes[0]
    assert decision.notes[1:] == ("Answer in English.",)


@pytest.mark.parametrize("script", [{"resume": 0.39}, {"resume": 1.0, "hush": 0.5}, {"resume": 1.0, "unfinished": 0.5}])
def test_s07_108_no_going_on(script: Script) -> None:
    made, _ = policy(script)
    assert run(made.decide(turn(cut=CUT))).mode == "silent"
