"""Lexical features of a view: a fixed row of numbers about where names stand, how the turn is made, and what came before."""

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from voiceagent.judgment.classifier.lexicon import LANGUAGES, Lexicon, lexicon, small_words, spoken
from voiceagent.judgment.classifier.view import AGENT, PEOPLE, Line, View

Features = NDArray[np.float32]

_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_VOCATIVE_AFTER: Final = re.compile(rf"\b{AGENT}\b\s*[,?!:.]", re.IGNORECASE)
_VOCATIVE_BEFORE: Final = re.compile(rf"[,.?!…—-]\s*{AGENT}\b", re.IGNORECASE)
_PERSON: Final = "|".join(PEOPLE)
_PERSON_CALLED: Final = re.compile(rf"(?:^|[,.?!…]\s*)(?:{_PERSON})\b\s*[,?!.]?|[,]\s*(?:{_PERSON})\s*[?.!]*$", re.IGNORECASE)
_CONCEPTS: Final = (
    "you", "we", "me", "she", "imperative", "maybe", "later", "hush", "listening", "lift", "hold", "thanks", "greeting",
    "machine", "everyone", "anyone", "telephone", "kin", "quote", "question_word", "yes_no", "backchannel", "ask_about",
)  # fmt: skip
_WHOLE: Final = ("backchannel", "yes_no", "thanks", "greeting", "hold", "filler")
_ENDS: Final = ("article", "conjunction", "preposition", "filler", "question_word", "auxiliary", "me", "third_person")
_BEFORE: Final = ("article", "preposition", "ask_about", "conjunction", "filler", "question_word", "auxiliary", "maybe")
_AFTER: Final = ("third_person", "you", "imperative", "question_word", "auxiliary", "conjunction", "me", "we", "filler")


def features(view: View) -> Features:
    """The row for a view. All are within 0..1."""
    words = lexicon(spoken((view.last.text, *(line.text for line in reversed(view.before[-3:])))))
    row = [*_naming(view.last, words), *_making(view.last, words), *_ending(view.last, words)]
    row += [*_room(view), *_history(view, words), *_wished(view)]
    return np.array([min(1.0, max(0.0, float(value))) for value in row], dtype=np.float32)


def _naming(line: Line, words: Lexicon) -> list[float]:
    """Where the agent and other people are named in a turn."""
    at = [i for i, word in enumerate(line.words) if word == AGENT]
    spoken_words = [w for w in line.words if not words.has("filler", w)]
    before = [line.words[i - 1] for i in at if i > 0]
    after = [line.words[i + 1] for i in at if i + 1 < len(line.words)]
    people = [word for word in line.words if word in PEOPLE]
    row = [
        bool(at), len(at) > 1, line.misheard, AGENT + "s" in line.words,
        bool(spoken_words) and spoken_words[0] == AGENT, bool(at) and at[-1] == len(line.words) - 1, bool(at) and at[0] == 0,
        bool(_VOCATIVE_AFTER.search(line.text)), bool(_VOCATIVE_BEFORE.search(line.text)), bool(at) and len(line.words) == 1,
        bool(people), len(people) > 1, bool(spoken_words) and spoken_words[0] in PEOPLE,
        bool(line.words) and line.words[-1] in PEOPLE,
        bool(_PERSON_CALLED.search(line.text)), bool(people) and bool(at),
    ]  # fmt: skip
    row += [any(words.has(concept, word) for word in before) for concept in _BEFORE]
    row += [any(words.has(concept, word) for word in after) for concept in _AFTER]
    return [float(value) for value in row]


def _making(line: Line, words: Lexicon) -> list[float]:
    """What a turn is made of."""
    text = " ".join(line.words)
    bare = " ".join(word for word in line.words if word != AGENT)
    opening = [word for word in line.words if not words.has("filler", word) and word not in (AGENT, *PEOPLE)][:1] or [""]
    row = [float(words.count(concept, text) > 0) for concept in _CONCEPTS]
    row += [float(words.whole(concept, bare)) for concept in _WHOLE]
    row += [
        float(words.has(concept, opening[0]))
        for concept in ("question_word", "auxiliary", "imperative", "me", "we", "you", "she")
    ]
    size = len(line.words)
    row += [float(size <= most) for most in (1, 2, 3, 5, 8, 12, 20)]
    row += [float(sign in line.text) for sign in ("?", "!", ",", "…", "«", '"', "—", ":")]
    row += [float(any(c.isupper() for c in line.text)), float("." in line.text), float(bool(_NUMBER.search(line.text)))]
    return row


def _ending(line: Line, words: Lexicon) -> list[float]:
    """How a turn ends, which says most about whether it is finished."""
    last = next((word for word in reversed(line.words) if word not in (AGENT, *PEOPLE)), "")
    end = line.text.rstrip()[-3:]
    row = [float(words.has(concept, last)) for concept in _ENDS]
    row += [float(end.endswith(sign)) for sign in (".", "?", "!", ",", "...", "…", "-", "—", '"', "»")]
    return [*row, float(last.isdigit()), float(bool(end) and end[-1].isalnum())]


def _room(view: View) -> list[float]:
    """Who is there and in what state the room is."""
    sizes = [view.people <= 1, view.people == 2, view.people == 3, view.people > 3]
    state = [view.listening is not None, view.cut is not None, bool(view.wishes), view.urgent]
    heard = [view.cut is not None and view.heard_seconds < limit for limit in (1.0, 2.5, 5.0)]
    language = spoken((view.last.text, *(line.text for line in reversed(view.before[-3:]))))
    return [float(value) for value in (*sizes, *state, *heard, *(language == code for code in LANGUAGES))]


def _history(view: View, words: Lexicon) -> list[float]:
    """Who spoke before, to whom, and what."""
    before = view.before
    last = before[-1] if before else None
    prior = before[-2] if len(before) > 1 else None
    agent = [i for i, line in enumerate(reversed(before)) if line.who == AGENT]
    mine = [line for line in before if line.who == view.last.who]
    asker = _talked_with(before)
    row = [
        last is None, last is not None and last.who == AGENT, last is not None and last.who == view.last.who,
        last is not None and last.who not in (AGENT, view.last.who), prior is not None and prior.who == AGENT,
        prior is not None and prior.who == view.last.who, bool(agent),
        bool(agent) and agent[0] <= 1, bool(agent) and agent[0] <= 2,
        asker == view.last.who, asker is not None and asker != view.last.who, bool(mine) and AGENT in mine[-1].words,
        any(AGENT in line.words for line in before), last is not None and AGENT in last.words,
        last is not None and view.last.who in last.words,
        len(before) >= 2, len(before) >= 4, len({line.who for line in before}) > 2,
    ]  # fmt: skip
    text = " ".join(last.words) if last is not None else ""
    row += [last is not None and _asks(last, words), last is not None and last.who == AGENT and _asks(last, words)]
    row += [prior is not None and _asks(prior, words), words.count("you", text) > 0, words.count("telephone", text) > 0]
    row += [
        words.count("everyone", text) > 0,
        words.count("imperative", text) > 0,
        _overlap(view.last.words, last.words if last else ()) > 0.2,
    ]
    return [float(value) for value in row]


def _wished(view: View) -> list[float]:
    """How what the agent wants to say touches what was said: words and numbers in common."""
    if not view.wishes:
        return [0.0] * 8
    wish = [word for line in view.wishes for word in line.words]
    text = " ".join(line.text for line in view.wishes)
    before = [word for line in view.before[-2:] for word in line.words]
    ours, theirs = set(_NUMBER.findall(text)), set(_NUMBER.findall(view.last.text))
    share, earlier = _overlap(wish, view.last.words), _overlap(wish, before)
    return [
        share, earlier, float(share == 0.0), float(share > earlier), float(bool(theirs)),
        float(bool(theirs) and bool(ours) and not ours & theirs), float(bool(ours & theirs)), float("?" in view.last.text),
    ]  # fmt: skip


def _asks(line: Line, words: Lexicon) -> bool:
    opening = [word for word in line.words if not words.has("filler", word)][:1] or [""]
    return "?" in line.text or words.has("question_word", opening[0])


def _talked_with(before: Sequence[Line]) -> str | None:
    """Whoever spoke right before the agent last did."""
    for place in range(len(before) - 1, 0, -1):
        if before[place].who == AGENT and before[place - 1].who != AGENT:
            return before[place - 1].who
    return None


def _overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of content words in common, by their first five letters."""
    small = small_words()
    a = {word[:5] for word in one if len(word) > 2 and word not in small}
    b = {word[:5] for word in other if len(word) > 2 and word not in small}
    return len(a & b) / max(1, min(len(a), len(b)))


def width() -> int:
    """How many numbers a row has."""
    empty = Line("alice", "", ())
    return int(features(View(empty, (), 1, None, None, 0.0, (), False)).shape[0])
