"""Who is alone with the agent and asks or tells it something means it: a prior that is seen, and set, by the host."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final

from voiceagent.judgment.classifier.lexicon import LANGUAGES, Lexicon, common_words, lexicon, spoken
from voiceagent.judgment.classifier.names import plain
from voiceagent.judgment.classifier.prior import levels, raised
from voiceagent.judgment.classifier.question import Answers, Classifier, Question, ScoreAnswer, State
from voiceagent.judgment.classifier.view import PEOPLE

AMOUNT: Final = 1.25
SURE: Final = 0.25
_TELLS: Final = 0.5
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_ASKS: Final = re.compile(r"\?\W*$|\?\s|¿")
_CALLED: Final = re.compile(r"^\W*([^\W_]+)\s*[,!]|,\s*([^\W_]+)\s*[?.!]*\s*$")
_RINGS: Final = re.compile(r"^\W*([^\W_]+)\s*\?+\W*[^\W_]")
_OPENS: Final = re.compile(r"^\W*([^\W_]+)\s+([^\W_]+)")


class Alone:
    """Raises `directness` where one person is with the agent: by `amount` levels for a question, a request, a greeting, what
    follows the agent's own question, and what they tell right after it spoke; by half of it for what they tell out of the
    blue. By how much is said under `alone`.

    Where the classifier is all but sure, by its chances, that a turn is meant for nobody here (under 0.25) it stays so. So it
    does after words that mark a telephone, somebody who is not there, or talk to oneself, and in a room that only listens. With
    the default of 1.25 everything else of the first kind is answered. What holds an answer back (unfinished, postponed, quiet
    asked for) does so here too. Closing it closes the classifier it wraps. Raises ValueError for an amount that is not above 0
    and at most 3.
    """

    def __init__(self, classifier: Classifier, amount: float = AMOUNT) -> None:
        self._classifier = classifier
        self._amount = levels(amount)

    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        """The wrapped classifier's answers, with the prior in them. Raises what it raises."""
        answers = await self._classifier.classify(state, questions)
        level = _level(answers)
        share = meant(state) if level >= SURE else 0.0
        return raised(answers, "alone", level, self._amount * share) if share else answers

    async def close(self) -> None:
        """Closes the wrapped classifier."""
        await self._classifier.close()


def _level(answers: Answers) -> float:
    """The directness that a classifier leaves open: its score, or the mean of the chances that it tells where that is more."""
    answer = answers.all().get("directness")
    if not isinstance(answer, ScoreAnswer):
        return 0.0
    return max(answer.score, sum(level * chance for level, chance in enumerate(answer.probabilities)))


def meant(state: State) -> float:
    """How much the words of the only person there speak for being meant for the agent, 0, a half or 1; 0 for several people, and
    for a room that only listens."""
    agent, people, last = state.get("agent"), state.get("people"), state.get("last_turn")
    if not isinstance(agent, dict) or agent.get("listening_only") is not None:
        return 0.0
    if not isinstance(people, list) or len(people) != 1 or not isinstance(last, dict):
        return 0.0
    text, name = str(last.get("text", "")), str(agent.get("name", ""))
    earlier, spoke = _since(state, name)
    language = spoken((text, *earlier))
    if any(_elsewhere(said, name, language) for said in (text, *earlier)):
        return 0.0
    if _tables()[language].count("to_self", _plainly(text)):
        return 0.0
    after = None if earlier else spoke
    return 1.0 if after is not None and _ASKS.search(after) else _by_form(text, language, after is not None)


def _since(state: State, agent: str) -> tuple[list[str], str | None]:
    """What was said since the agent last spoke, newest first, and what the agent said then; None when it did not."""
    recent = state.get("recent_turns")
    turns = [turn for turn in recent if isinstance(turn, dict)] if isinstance(recent, list) else []
    said: list[str] = []
    for turn in reversed(turns):
        text = str(turn.get("text", ""))
        if turn.get("speaker") == agent:
            return said, text
        said.append(text)
    return said, None


def _by_form(text: str, language: str, goes_on: bool) -> float:
    """1 for what asks, requests or greets, and for what tells where the talk goes on; a half for telling out of the blue."""
    words = lexicon(language)
    if words.whole("backchannel", _plainly(text)):
        return 0.0
    opening = [word for word in _plainly(text).split() if not words.has("filler", word)][:2]
    if _ASKS.search(text) or _greets(text) or _is_request(opening, words):
        return 1.0
    if not opening or not _tables()[language].has("tells", opening[0]):
        return 0.0
    return 1.0 if goes_on else _TELLS


def _greets(text: str) -> bool:
    """Whether a turn is a greeting alone, in any language: one word tells little of which it is."""
    return any(lexicon(language).whole("greeting", _plainly(text)) for language in LANGUAGES)


def _is_request(opening: Sequence[str], words: Lexicon) -> bool:
    """Whether a turn opens as a question or a request does, for recognizers that leave out question marks."""
    if len(opening) < 2:
        return False
    first, second = opening
    asks = words.has("question_word", first) and words.has("auxiliary", second)
    return asks or words.has("imperative", first) or (words.has("auxiliary", first) and words.has("you", second))


def _elsewhere(text: str, agent: str, language: str) -> bool:
    """Whether a turn is said to somebody who is not there: by what is said on a telephone or to a pet, or by who is called."""
    own, words, rings, opens = _tables()[language], lexicon(language), _RINGS.match(text), _OPENS.match(text)
    if own.count("elsewhere", _plainly(text)) or (rings is not None and own.has("rings", plain(rings[1]))):
        return True
    called = [name for pair in _CALLED.findall(text) for name in pair if name]
    if opens is not None and words.has("kin", plain(opens[1])):
        called.append(opens[1])
    if opens is not None and words.has("greeting", plain(opens[1])):
        called.append(opens[2])
    return any(_is_name(name, agent, language) for name in called)


def _is_name(called: str, agent: str, language: str) -> bool:
    """Whether a word is the name, or a family's word, for somebody other than the agent."""
    word, own = plain(called), plain(agent).split()
    if word in own:
        return False
    return lexicon(language).has("kin", word) or (called[:1].isupper() and (word in PEOPLE or word not in common_words()))


def _plainly(text: str) -> str:
    """Plain words with single spaces, as the tables have them."""
    return " ".join(plain(word) for word in _WORD.findall(text))


@cache
def _tables() -> Mapping[str, Lexicon]:
    text = (resources.files("voiceagent.judgment.classifier") / "words" / "alone.toml").read_text(encoding="utf-8")
    return {language: Lexicon(tables) for language, tables in tomllib.loads(text).items()}
