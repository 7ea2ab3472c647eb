"""The policy that asks a classifier narrow questions about a turn, and composes the answers in code."""

import asyncio
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from voiceagent.judgment.classifier.question import (
    Answers,
    ChoiceQuestion,
    Classifier,
    ClassifierError,
    Question,
    State,
)
from voiceagent.judgment.classifier.questions import QUESTIONS, RESUME, THOUGHT_QUESTIONS, WAITING
from voiceagent.judgment.compose import Eagerness, asked_to_listen, compose, leaves_free, lifted, put_to_itself
from voiceagent.judgment.listening import LISTEN_REQUEST, LISTENING_QUESTIONS, Request
from voiceagent.judgment.policy import Foreseen, SpeakDecision, SpeakPolicy, SpeakTurn
from voiceagent.judgment.thought import LONGEST_TEXT, LONGEST_WISH
from voiceagent.llm.turn_notes import resume_note
from voiceagent.room.bounded import bounded
from voiceagent.values import JSON

log = logging.getLogger(__name__)

OTHER: Final = "other"
LONGEST_TURN: Final = 2_000
LONGEST_CUT: Final = 600
_SHIPPED: Final = frozenset({*QUESTIONS, *THOUGHT_QUESTIONS, *LISTENING_QUESTIONS, "listen_request", "waiting", "resume"})


@dataclass(frozen=True, slots=True)
class Judging:
    """How a ClassifierSpeakPolicy judges.

    `history`: how many turns before the judged one the classifier reads. `wait`: seconds it is given, to be kept below the
    channel's `speak_timeout`. `hold_back`: a question put to another person is theirs to try first.
    """

    history: int = 6
    proactivity: float = 0.5
    wait: float = 1.5
    hold_back: bool = False

    def __post_init__(self) -> None:
        if self.history < 0:
            raise ValueError("history counts turns: 0 or more")
        if not 0 < self.wait < math.inf:
            raise ValueError("wait is a time above 0 seconds")


class ClassifierSpeakPolicy(SpeakPolicy):
    """Asks `classifier` about each turn, in one call; see compose() for the rules.

    `questions` replaces shipped questions by name or adds some; `languages` maps each language the agent answers in to a note in
    that language. Whoever made the classifier closes it. Raises ValueError for a language called "other" or a `proactivity` that
    is not above 0 and at most 1, TypeError for a question that is none.
    """

    def __init__(
        self,
        classifier: Classifier,
        *,
        agent_name: str,
        agent_role: str = "",
        questions: Mapping[str, Question] | None = None,
        languages: Mapping[str, str] | None = None,
        history: int = 6,
        proactivity: float = 0.5,
        judging: Judging | None = None,
    ) -> None:
        if languages and OTHER in {name.strip().casefold() for name in languages}:
            raise ValueError(f"a language cannot be called {OTHER!r}: that is the answer for every language not listed")
        if wordless := [name for name, question in (questions or {}).items() if not isinstance(question, Question)]:
            raise TypeError(f"{wordless[0]!r} is no question: give a YesNoQuestion, a ScoreQuestion or a ChoiceQuestion")
        self._classifier = classifier
        self._agent: dict[str, JSON] = {"name": agent_name, **({"role": agent_role} if agent_role else {})}
        self._replaced = dict(questions or {})
        self._languages = dict(languages or {})
        self._judging = judging or Judging(history, proactivity)
        self._eagerness = Eagerness(self._judging.proactivity)
        self._listening: dict[str, Request] = {}

    async def decide(self, turn: SpeakTurn) -> SpeakDecision:
        """One classifier call, then the rules."""
        foreseen = await self._foreseen(turn)
        foreseen.settle()
        return foreseen.decision

    async def foresee(self, turn: SpeakTurn) -> Foreseen | None:
        """The same; whether the room listens from then on changes when the turn is there."""
        return await self._foreseen(turn) if type(self).decide is ClassifierSpeakPolicy.decide else None

    async def _foreseen(self, turn: SpeakTurn) -> Foreseen:
        room_id = turn.event.room_id
        listening = self._listening.get(room_id)
        if not turn.event.content.body.strip():
            return Foreseen(_only_listens({}) if listening else SpeakDecision("speak", "nothing to judge"))
        try:
            return self._ruled(turn, await self._answers(turn), listening)
        except Exception:
            if listening is None:
                raise
            log.warning("room %s: the turn cannot be judged: the agent goes on listening", room_id, exc_info=True)
            return Foreseen(_only_listens({}))

    def decision(self, turn: SpeakTurn, answers: Answers) -> SpeakDecision:
        """What the answers mean in an open room; override it to change the rules."""
        return compose(turn, answers, self._eagerness)

    def state(self, turn: SpeakTurn) -> State:
        """What the classifier reads; override it to give it more."""
        listening = self._listening.get(turn.event.room_id)
        agent = dict(self._agent)
        if listening is not None:
            agent["listening_only"] = {"speaker": listening.speaker, "text": listening.text}
        state: dict[str, JSON] = {
            "agent": agent,
            "people": list(turn.people),
            "recent_turns": self._recent(turn),
            "last_turn": self._said(turn, turn.event.id, turn.event.content.body),
        }
        if turn.thought is not None and turn.thought.want_to_say:
            thought = turn.thought
            wanted: list[JSON] = [wish[:LONGEST_WISH] for wish in thought.want_to_say]
            thinking: JSON = {"thinking": thought.text[:LONGEST_TEXT], "want_to_say": wanted, "urgent": thought.urgent}
            state["assistant_thought"] = thinking
        if turn.cut is not None and listening is None:
            heard = round(turn.cut.played_ms / 1000, 1)
            state["assistant_cut_off"] = {"was_saying": turn.cut.text[-LONGEST_CUT:], "heard_seconds": heard}
        return state

    def questions(self, turn: SpeakTurn) -> Mapping[str, Question]:
        """What the classifier is asked; override it to ask more."""
        asked: dict[str, Question] = dict(QUESTIONS)
        listening = turn.event.room_id in self._listening
        asked.update(LISTENING_QUESTIONS if listening else {"listen_request": LISTEN_REQUEST})
        if turn.thought is not None and turn.thought.want_to_say:
            asked.update(THOUGHT_QUESTIONS)
            if self._judging.hold_back:
                asked["waiting"] = WAITING
        if turn.cut is not None and not listening:
            asked["resume"] = RESUME
        if self._languages:
            asked["language"] = ChoiceQuestion(
                "Which language does the speaker of `last_turn` speak, judged over all of their turns here?",
                (*self._languages, OTHER),
            )
        asked.update({n: q for n, q in self._replaced.items() if n in asked or n not in _SHIPPED})
        return asked

    def listening(self, room_id: str) -> Request | None:
        """The request that keeps the agent quiet in a room; None in an open one."""
        return self._listening.get(room_id)

    def forget_room(self, room_id: str) -> None:
        """A room opens with every conversation that begins in it."""
        self._listening.pop(room_id, None)

    # -- inside ---------------------------------------------------------------------------------------------------------

    async def _answers(self, turn: SpeakTurn) -> Answers:
        asked = self._classifier.classify(self.state(turn), self.questions(turn))
        try:
            if turn.event.room_id in self._listening:  # not even one that ignores being stopped may use up the channel's bound
                return await bounded(asked, round(self._judging.wait * 1000))
            async with asyncio.timeout(self._judging.wait):
                return await asked
        except TimeoutError:
            raise ClassifierError(f"the classifier did not answer in {self._judging.wait:g} s") from None

    def _ruled(self, turn: SpeakTurn, answers: Answers, listening: Request | None) -> Foreseen:
        """What was asked tells which rules hold: the room's state may have changed during the call."""
        room_id = turn.event.room_id
        if listening is None:
            if asked_to_listen(answers):
                request = Request.of(turn.speakers.get(turn.event.id, "someone"), turn.event.content.body)
                quiet = SpeakDecision("silent", "asked to listen", answers.judgments(), final=True)
                return Foreseen(quiet, lambda: self._listening.update({room_id: request}))
            return Foreseen(self._with_language(self._resumed(turn, answers, self.decision(turn, answers)), answers))
        if lifted(answers):
            decided = self._resumed(turn, answers, self.decision(turn, answers))
            told = replace(decided, judgments={**decided.judgments, "listening": 1.0})
            return Foreseen(self._with_language(told, answers), lambda: self._listening.pop(room_id, None))
        if put_to_itself(answers):
            judgments = {**answers.judgments(), "listening": 1.0}
            return Foreseen(self._with_language(SpeakDecision("speak", "asked while listening", judgments), answers))
        return Foreseen(_only_listens(answers.judgments()))

    def _resumed(self, turn: SpeakTurn, answers: Answers, decided: SpeakDecision) -> SpeakDecision:
        if turn.cut is None or not leaves_free(answers):
            return decided
        return SpeakDecision("speak", "resume after cut", decided.judgments, (resume_note(turn.cut.played_ms), *decided.notes))

    def _with_language(self, decided: SpeakDecision, answers: Answers) -> SpeakDecision:
        note = self._languages.get(answers.choice("language") or "")
        return decided if note is None else replace(decided, notes=(*decided.notes, note))

    def _recent(self, turn: SpeakTurn) -> list[JSON]:
        if self._judging.history == 0:
            return []
        newest = islice((e for e in reversed(turn.recent) if e.content.body.strip()), self._judging.history)
        return [
            {"speaker": str(self._agent["name"]), "text": _bounded(e.content.body)}
            if turn.by_agent(e)
            else self._said(turn, e.id, e.content.body)
            for e in reversed(list(newest))
        ]

    @staticmethod
    def _said(turn: SpeakTurn, event_id: str, text: str) -> dict[str, JSON]:
        return {"speaker": turn.speakers.get(event_id, "someone"), "text": _bounded(text)}


def _bounded(text: str) -> str:
    """The end of a very long turn: how it ends says most."""
    return text if len(text) <= LONGEST_TURN else text[-LONGEST_TURN:]


def _only_listens(judgments: Mapping[str, float]) -> SpeakDecision:
    return SpeakDecision("silent", "listening", {**judgments, "listening": 1.0}, final=True)


__all__: Sequence[str] = ("ClassifierSpeakPolicy", "Judging")
