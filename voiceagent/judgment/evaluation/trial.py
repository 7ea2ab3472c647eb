"""Trying labelled turns on a speak policy: each is set up as in a room of its own, and decided by the real policy."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from voiceagent import clock
from voiceagent.judgment.classifier.names import NameMatcher, plain
from voiceagent.judgment.classifier.priors import NO_PRIORS, Priors
from voiceagent.judgment.classifier.question import Answers, Classifier, ClassifierError, Question, State, YesNoAnswer
from voiceagent.judgment.evaluation.labelled import LabelledTurn, Said
from voiceagent.judgment.judged import ClassifierSpeakPolicy, Judging
from voiceagent.judgment.policy import CutReply, Mode, SpeakDecision, SpeakPolicy, SpeakTurn
from voiceagent.judgment.thought import Thought
from voiceagent.room.events import ChannelType, EventSource, RoomEvent, TextContent

_START: Final = datetime(2026, 1, 1, tzinfo=UTC)
_PATIENCE: Final = 60.0


@dataclass(frozen=True, slots=True)
class Trial:
    """What a policy decided on a turn, what its classifier answered where it has one, and how long the decision took in ms."""

    turn: LabelledTurn
    mode: Mode
    reason: str
    answers: Answers | None
    took_ms: int


class Judge(Protocol):
    """Tries one turn."""

    async def decide(self, turn: LabelledTurn) -> tuple[SpeakDecision, Answers | None]:
        """The decision, and the answers that it was made from."""
        ...


class ByClassifier:
    """Judges through ClassifierSpeakPolicy around `classifier` with its `priors`, and reports the answers without them.

    Asks about waiting where a turn is labelled for it.
    """

    def __init__(self, classifier: Classifier, priors: Priors = NO_PRIORS) -> None:
        self._heard = _Overheard(classifier)
        self._asked = priors.around(self._heard)

    async def decide(self, turn: LabelledTurn) -> tuple[SpeakDecision, Answers | None]:
        """Raises ClassifierError where the classifier failed."""
        judging = Judging(wait=_PATIENCE, hold_back="waiting" in turn.labels)
        policy = ClassifierSpeakPolicy(self._asked, agent_name=turn.agent, judging=judging)
        if turn.listening is not None:
            with self._heard.asked_to_listen():
                await policy.decide(_spoken(turn, turn.listening))
        self._heard.forget()
        decision = await policy.decide(speak_turn(turn))
        if self._heard.failure is not None:
            raise self._heard.failure
        return decision, self._heard.answers


class ByPolicy:
    """Judges by a policy that has no classifier: a baseline."""

    def __init__(self, policy: SpeakPolicy) -> None:
        self._policy = policy

    async def decide(self, turn: LabelledTurn) -> tuple[SpeakDecision, Answers | None]:
        """The policy's decision alone."""
        return await self._policy.decide(speak_turn(turn)), None


class SpeaksWhenNamed(SpeakPolicy):
    """Answers turns that hold the agent's name, in any spelling that sounds like it: the rule that other policies must beat."""

    def __init__(self, agent: str) -> None:
        self._matcher = NameMatcher(agent, ())

    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        """Speak when named, silent otherwise."""
        words = [plain(word) for word in turn.event.content.body.replace(",", " ").replace(".", " ").strip("?! ").split()]
        named = any(self._matcher.agent_at(words, place) for place in range(len(words)))
        return SpeakDecision("speak" if named else "silent", "named" if named else "not named")


class ByName:
    """Judges by whether the agent is named."""

    async def decide(self, turn: LabelledTurn) -> tuple[SpeakDecision, Answers | None]:
        """Speak or silent."""
        return await SpeaksWhenNamed(turn.agent).decide(speak_turn(turn)), None


async def tried(judge: Judge, turn: LabelledTurn) -> Trial:
    """One turn's trial, timed in whole ms."""
    began = clock.now()
    decision, answers = await judge.decide(turn)
    return Trial(turn, decision.mode, decision.reason, answers, clock.now() - began)


def speak_turn(turn: LabelledTurn) -> SpeakTurn:
    """A labelled turn as a policy reads it."""
    said = [*turn.history, turn.last]
    events = [_event(turn, place, words) for place, words in enumerate(said)]
    names = {event.id: words.speaker for event, words in zip(events, said, strict=True)}
    thought = None if turn.thought is None else Thought(turn.thought.text, turn.thought.want_to_say, turn.thought.urgent)
    cut = None if turn.cut is None else CutReply(turn.cut.text, turn.cut.played_ms, _START)
    return SpeakTurn(
        event=events[-1], recent=events[:-1], people=turn.people, speakers=names, channel_id="agent", thought=thought, cut=cut
    )


def _spoken(turn: LabelledTurn, words: Said) -> SpeakTurn:
    """Words said in a turn's room before anything else."""
    return speak_turn(replace(turn, history=(), last=words, cut=None, thought=None))


def _event(turn: LabelledTurn, place: int, words: Said) -> RoomEvent:
    by_agent = words.speaker == turn.agent and words.speaker not in turn.people
    source = EventSource("agent", ChannelType.AI) if by_agent else EventSource("room", ChannelType.TEXT)
    return RoomEvent(f"{turn.id}-{place}", turn.id, source, TextContent(words.text), _START + timedelta(seconds=place))


class _Overheard:
    """A classifier whose last answers are kept; while it is asked to listen it answers that alone, and asks nobody."""

    def __init__(self, classifier: Classifier) -> None:
        self._classifier = classifier
        self._asking = False
        self.answers: Answers | None = None
        self.failure: ClassifierError | None = None

    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        if self._asking:
            return Answers({"listen_request": YesNoAnswer(1.0)})
        try:
            self.answers = await self._classifier.classify(state, questions)
        except ClassifierError as error:
            self.failure = error
            raise
        return self.answers

    async def close(self) -> None:
        await self._classifier.close()

    def forget(self) -> None:
        self.answers, self.failure = None, None

    def asked_to_listen(self) -> "_Asking":
        return _Asking(self)

    def asking(self, now: bool) -> None:
        self._asking = now


class _Asking:
    """Marks the time in which a classifier is asked to listen."""

    def __init__(self, heard: _Overheard) -> None:
        self._heard = heard

    def __enter__(self) -> None:
        self._heard.asking(True)

    def __exit__(self, *_: object) -> None:
        self._heard.asking(False)


def by_tag(trials: list[Trial]) -> Iterator[tuple[str, list[Trial]]]:
    """The trials of each tag, the most frequent one first."""
    tags: dict[str, list[Trial]] = {}
    for trial in trials:
        for tag in trial.turn.tags:
            tags.setdefault(tag, []).append(trial)
    yield from sorted(tags.items(), key=lambda item: (-len(item[1]), item[0]))
