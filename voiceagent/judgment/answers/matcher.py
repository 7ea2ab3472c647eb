"""The answer matcher that needs no model: an utterance is an answer when all of its words are accounted for by one.

It fails closed. Each word must belong to an option, to the question, or to the small stock of words that people put around an
answer; one that does not makes the whole of it ordinary speech, however plainly an option is named in it. What is hedged, rises
like a question, or could be meant for two questions is found, but not sure. Measured by `python -m tools.answers.measure`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from voiceagent.judgment.answers.asked import AskedQuestion, Found
from voiceagent.judgment.answers.lexicon import lexicon
from voiceagent.judgment.answers.reading import Said, said, stem, tokens

LONGEST: Final = 300
"""Characters of an utterance; what is longer is no answer."""

_PLAIN: Final = 0.95
_LIKELY: Final = 0.6
_NAME_WORDS: Final = 4
_MORE: Final = 1


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way in which the utterance answers a question. `about`: it names what the question is about; `whole`: the option is
    said whole, in two words or more; `doubt`: it wants to be read back."""

    asked: AskedQuestion
    option: int | None
    about: bool
    whole: bool
    doubt: bool


def matched(questions: Sequence[AskedQuestion], utterance: str, language: str) -> Found | None:
    """Which of the questions the utterance answers, and how; None when it answers none of them, or perhaps several.

    `language` is a two-letter code; there are words for English, French and Spanish. A question takes well under a millisecond.
    """
    if not questions or len(utterance) > LONGEST:
        return None
    heard, words = said(utterance, language), lexicon(language)
    if heard.asks or not heard.words or _holds(heard.words, words.greetings):
        return None
    readings = [reading for asked in questions if (reading := _Question(asked, language).read(heard, utterance)) is not None]
    chosen, rivals = _chosen(readings)
    if chosen is None:
        return None
    doubt = chosen.doubt or rivals or heard.rises or bool(words.hedges.intersection(heard.words))
    text = utterance.strip() if chosen.option is None else None
    return Found(chosen.asked.question_id, chosen.option, text, _LIKELY if doubt else _PLAIN)


def _chosen(readings: Sequence[_Reading]) -> tuple[_Reading | None, bool]:
    """The reading that is meant, and whether another could be: whose question is named, else whose was said last."""
    named = [reading for reading in readings if reading.about] or list(readings)
    if len(named) <= 1:
        return (named[0] if named else None), False
    last = [reading for reading in named if reading.asked.spoken_last]
    return (last[0], True) if len(last) == 1 else (None, True)


class _Question:
    """One question's words."""

    def __init__(self, asked: AskedQuestion, language: str) -> None:
        self._asked = asked
        self._language = language
        self._words = lexicon(language)
        self._about = self._content(asked.question)
        self._options = [self._content(option) for option in asked.options]
        self._own = [words - self._shared(place) for place, words in enumerate(self._options)]
        self._yes, self._no = self._poles()
        if self._yes is not None:
            self._own = [own - self._words.yes - self._words.no for own in self._own]

    def read(self, heard: Said, utterance: str) -> _Reading | None:
        """How the utterance answers it; None when it does not."""
        if not self._asked.options:
            return self._read_own(heard, utterance) if self._asked.spoken_last else None
        unknown = self._unknown(heard)
        if len(unknown) > 1 or (unknown and heard.words[0] not in unknown):
            return self._partly(heard)
        place, doubt = self._place(heard)
        if place is None:
            return None
        reading = self._weighed(heard, place, doubt)
        if reading is not None and unknown:
            return _Reading(reading.asked, place, True, reading.whole, True) if reading.about else None
        return reading

    def _partly(self, heard: Said) -> _Reading | None:
        """What may be an answer with more around it: one clause names an option and has little else, and nothing of it all tells
        of something that happened. It is never sure."""
        place, _ = self._place(heard)
        stems = {self._stem(word) for word in heard.words}
        topics = (self._about - frozenset().union(*self._options)) & stems
        if place is None or not (self._asked.spoken_last or topics):
            return None
        for clause in heard.clauses:
            unknown = self._unknown(Said((clause,), asks=False, rises=False))
            tells = self._words.telling.intersection(clause.words)
            named = not self._own[place].isdisjoint(self._stem(word) for word in clause.words)
            if named and not tells and len(unknown) <= _MORE + len(topics):
                return _Reading(self._asked, place, bool(topics), False, True)
        return None

    # -- words ----------------------------------------------------------------------------------------------------------

    def _content(self, text: str) -> frozenset[str]:
        """What a question or an option is about."""
        words = self._words
        left = [word for word in tokens(text, self._language) if word not in words.stop]
        kept = left or list(tokens(text, self._language))
        return frozenset(self._stem(word) for word in kept)

    def _stem(self, word: str) -> str:
        return stem(word, self._language)

    def _shared(self, place: int) -> frozenset[str]:
        """What an option has in common with others."""
        others = [words for other, words in enumerate(self._options) if other != place]
        return frozenset[str]().union(*others) if others else frozenset()

    def _poles(self) -> tuple[int | None, int | None]:
        """Which options mean yes and no, where one of each does."""
        first = [(tokens(option, self._language) or ("",))[0] for option in self._asked.options]
        yes = [place for place, word in enumerate(first) if word in self._words.yes]
        no = [place for place, word in enumerate(first) if word in self._words.no]
        return (yes[0], no[0]) if len(yes) == len(no) == 1 else (None, None)

    def _unknown(self, heard: Said) -> list[str]:
        """The words that no answer to this question accounts for."""
        words = self._words
        asked = self._asked
        raw = {self._stem(word) for text in (asked.question, *asked.options) for word in tokens(text, self._language)}
        known = self._about.union(raw, *self._options)
        stock = (
            words.frame, words.yes, words.no, words.negations, words.hedges, words.marks, words.alternatives, words.numbered,
            words.breaks,
        )  # fmt: skip
        said_so = {word for phrase in words.yes_phrases for word in phrase} if self._yes is not None else set()
        scaled = words.least | words.most if self._values() else frozenset()
        left = []
        for before, word in zip(("", *heard.words), heard.words, strict=False):
            if before in words.numbered and (word.isdigit() or word in words.figures.values()):
                continue
            if any(word in some for some in stock) or word in said_so or word in scaled or word in words.ordinals:
                continue
            if self._stem(word) not in known:
                left.append(word)
        return left

    # -- options --------------------------------------------------------------------------------------------------------

    def _place(self, heard: Said) -> tuple[int | None, bool]:
        """The option that is meant, and whether that is in doubt: of several the last one, if the ones before are taken back."""
        meant: int | None = None
        refused: set[int] = set()
        doubt = False
        for clause in heard.clauses:
            places = self._named(clause.words)
            if len(places) > 1:
                return None, True
            negated = bool(self._words.negations.intersection(clause.words)) and not self._words.no.issuperset(clause.words)
            negated = negated or clause.denied
            place = next(iter(places), None)
            if negated:
                refused |= places
                meant = None if meant in places else meant
                continue
            if place is None:
                continue
            if meant is not None and place != meant and not clause.taken_back and not self._took_back(heard):
                return None, True
            meant = place
        if meant is None and self._yes in refused and self._no is not None:
            meant, doubt = self._no, not self._words.no.intersection(heard.words)
        if meant is None and not refused and self._only_negates(heard):
            return self._no, True
        return meant, doubt

    def _took_back(self, heard: Said) -> bool:
        return any(clause.taken_back for clause in heard.clauses)

    def _only_negates(self, heard: Said) -> bool:
        words = self._words
        return self._no is not None and self._asked.spoken_last and set(heard.words) <= words.negations | words.frame \
            and bool(words.negations.intersection(heard.words))  # fmt: skip

    def _named(self, row: Sequence[str]) -> set[int]:
        """The options that a clause names: by their own words, by place, by the end of a scale, or by yes and no."""
        stems = {self._stem(word) for word in row}
        places = {place for place, own in enumerate(self._own) if own & stems and self._figures_fit(place, stems)}
        if self._yes is not None and self._no is not None and self._asked.spoken_last:
            yes = bool(self._words.yes.intersection(row)) or _holds(tuple(row), self._words.yes_phrases)
            no = bool(self._words.no.intersection(row))
            negated = bool(self._words.negations.intersection(row))
            if no:
                places = (places - {self._yes}) | {self._no}
            elif yes and not negated:
                places |= {self._yes}
        return places or self._by_place(row) or self._by_scale(row)

    def _figures_fit(self, place: int, stems: set[str]) -> bool:
        """A number is said whole or not at all: of a quarter past six, "six" alone is another time."""
        figures = {word for word in self._options[place] if word[0].isdigit()}
        return not figures & stems or figures <= stems

    def _by_place(self, row: Sequence[str]) -> set[int]:
        words, count = self._words, len(self._asked.options)
        found: set[int] = set()
        for at, word in enumerate(row):
            if word in words.ordinals:
                place = words.ordinals[word]
                middle = count // 2 if count % 2 else count
                found.add({-1: count - 1, -2: middle}.get(place, place))
            elif at and row[at - 1] in words.numbered:
                names = list(words.figures.values())
                found.add(int(word) - 1 if word.isdigit() else names.index(word) if word in names else count)
        return found if all(place < count for place in found) else set()

    def _by_scale(self, row: Sequence[str]) -> set[int]:
        values = self._values()
        if not values or len(row) < 2:
            return set()
        if self._words.least.intersection(row):
            return {values.index(min(values))}
        return {values.index(max(values))} if self._words.most.intersection(row) else set()

    def _values(self) -> list[float]:
        """What the options are on a scale: figures, days, sizes; none when one of them is on none, or two are alike."""
        values = [self._value(tokens(option, self._language)) for option in self._asked.options]
        known = [value for value in values if value is not None]
        if any(":" in option for option in self._asked.options):  # times of a day are listed in their order
            known = [value + 12 * any(value < before for before in known[:place]) for place, value in enumerate(known)]
        return known if len(known) == len(values) == len(set(known)) and len(known) > 1 else []

    def _value(self, row: Sequence[str]) -> float | None:
        names = list(self._words.figures.values())
        figures = [
            float(word) if word.isdigit() else float(names.index(word) + 1) for word in row if word.isdigit() or word in names
        ]
        if figures:
            return figures[0] + (figures[1] / 100 if len(figures) > 1 else 0)
        for scale in self._words.scales:
            found = [scale.index(word) for word in row if word in scale]
            if found:
                return float(found[0])
        return None

    def _weighed(self, heard: Said, place: int, doubt: bool) -> _Reading | None:
        """A question that was said last is answered by any word of an option; another by its own words, or by naming it."""
        stems = {self._stem(word) for word in heard.words}
        option = self._options[place]
        about = bool((self._about - frozenset().union(*self._options)) & stems)
        whole = option <= stems and len(option) > 1
        if self._asked.spoken_last or about or whole:
            return _Reading(self._asked, place, about, whole, doubt)
        bare = {word for word in heard.words if word not in self._words.stop}
        named = bool(self._own[place] & stems) and {self._stem(word) for word in bare} <= option
        return _Reading(self._asked, place, about, whole, True) if named or option <= stems else None

    # -- own words ------------------------------------------------------------------------------------------------------

    def _read_own(self, heard: Said, utterance: str) -> _Reading | None:
        """An answer where there are no options: a yes or no, a number that was asked for, or a name that is read back."""
        words = self._words
        asked = tokens(self._asked.question, self._language)
        rest = [w for w in heard.words if w not in words.frame and self._stem(w) not in self._about and w not in words.numbered]
        poles = words.yes | words.no | {word for phrase in words.yes_phrases for word in phrase}
        if asked and asked[0] in words.polar and rest and all(word in poles for word in rest):
            both = words.yes.intersection(rest) and words.no.intersection(rest)
            return _Reading(self._asked, None, False, False, bool(both))
        figures = [word for word in heard.words if word.isdigit() or word in words.figures.values()]
        if words.amounts.intersection(asked) and figures:
            others = [word for word in rest if word not in figures and word not in words.marks]
            unsure = len(figures) > 1 or any(clause.taken_back for clause in heard.clauses)
            return None if others else _Reading(self._asked, None, False, False, unsure)
        taken = words.polite | words.yes | words.no | words.negations | words.hedges
        named = 0 < len(rest) <= _NAME_WORDS and not taken.intersection(heard.words) and _capital(utterance, rest)
        return _Reading(self._asked, None, False, False, True) if named else None


def _capital(utterance: str, rest: Sequence[str]) -> bool:
    """Whether what is left of it are names: written with a capital letter."""
    names = {word.strip(".,!").casefold() for word in utterance.split() if word[:1].isupper()}
    return all(word in names for word in rest)


def agrees(utterance: str, language: str) -> bool | None:
    """Whether somebody who was asked if they meant it says yes, or no; None when they say neither, or both."""
    heard, words = said(utterance, language), lexicon(language)
    stock = words.yes | words.frame | {word for phrase in words.yes_phrases for word in phrase}
    yes = bool(words.yes.intersection(heard.words)) or _holds(heard.words, words.yes_phrases)
    no = bool((words.no | words.negations).intersection(heard.words))
    if heard.asks or heard.rises or yes == no:
        return None
    return False if no else True if stock.issuperset(heard.words) else None


def _holds(row: Sequence[str], phrases: Sequence[tuple[str, ...]]) -> bool:
    """Whether one of the phrases is in it."""
    return any(tuple(row[at : at + len(phrase)]) == phrase for phrase in phrases for at in range(len(row)))
