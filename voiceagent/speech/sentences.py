"""Whole sentences out of a stream of text, each as soon as it is certain to be one."""

import re
from typing import Final

_FENCE: Final = "```"

_BORDER: Final = re.compile(
    r"(?P<line>\n)"
    r"|(?P<fence>```)"
    r"|(?P<stop>[.!?…]+(?:(?!```)[\"'”’)\]*_`»])*(?=\s))"
    r"|(?P<wide>[。！？]+[」』”）]*(?=[^。！？」』”）]))"
    r"|(?P<clause>[,;:—–](?=\s))"
)

_SPACE: Final = re.compile(r"\s+")

_TITLES: Final = frozenset([
    "dr", "mr", "mrs", "ms", "mx", "prof", "st", "mt", "ft", "gen", "sen", "rep", "gov", "capt", "lt", "col", "sgt", "rev",
    "hon", "pres", "messrs", "vs", "e.g", "i.e", "cf", "approx", "est", "fig", "figs", "eq", "sec", "vol", "ch", "pp", "ed",
    "eds", "incl", "al", "ca", "tel", "ext",
])  # fmt: skip
"""Abbreviations that always have something after them."""

_MAYBE: Final = frozenset([
    "etc", "inc", "ltd", "co", "corp", "bros", "jr", "sr", "esq", "ave", "blvd", "rd", "dept", "univ", "a.m", "p.m", "ph.d",
    "b.c", "a.d", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "mon", "tue", "wed",
    "thu", "fri", "sat", "sun", "oz", "lb", "min", "max", "hr", "hrs",
])  # fmt: skip
"""Abbreviations that may end a sentence: what follows decides."""


class Sentences:
    """One answer's splitter: pieces of text in, sentences out, in order; joined they are the text again, up to white space.

    The first sentence may end at a comma once it has `first_words` words, so that sound starts early. A sentence longer than
    `max_chars` is cut at a clause, else a word, else anywhere. A line break ends a sentence; a code fence is one piece however
    long it is. How the text was cut into pieces makes no difference.
    """

    def __init__(self, first_words: int = 5, max_chars: int = 300) -> None:
        self._first_words = first_words
        self._max_chars = max_chars
        self._text = ""
        self._given = 0

    def feed(self, piece: str) -> list[str]:
        """Takes more text; returns the sentences that are certain by now, without white space around them."""
        self._text += piece
        return self._take(final=False)

    def flush(self) -> list[str]:
        """No more text will come: returns what is left."""
        return self._take(final=True)

    def _take(self, *, final: bool) -> list[str]:
        taken: list[str] = []
        start = self._past_space(0)
        while start < len(self._text):
            end = self._border(start)
            if end is None and not final:
                break
            taken.append(self._text[start:end].rstrip())
            self._given += 1
            start = self._past_space(len(self._text) if end is None else end)
        self._text = self._text[start:]
        return taken

    def _past_space(self, position: int) -> int:
        match = _SPACE.match(self._text, position)
        return match.end() if match else position

    def _border(self, start: int) -> int | None:
        """Where the sentence that begins at `start` ends; None while that is open."""
        text = self._text
        if text.startswith(_FENCE, start):
            close = text.find(_FENCE, start + len(_FENCE))
            return None if close < 0 else close + len(_FENCE)
        limit = start + self._max_chars
        for match in _BORDER.finditer(text, start, limit + 1):
            ends = self._ends(start, match)
            if ends is None and len(text) <= limit:
                return None
            if ends:
                return match.start() if match["fence"] else match.end()
        return self._cut(start, limit) if len(text) > limit else None

    def _cut(self, start: int, limit: int) -> int:
        """Where a sentence that is too long is broken off."""
        middle = (start + limit) // 2
        clauses = [match.end() for match in _BORDER.finditer(self._text, middle, limit) if match["clause"]]
        if clauses:
            return clauses[-1]
        space = max((match.start() for match in _SPACE.finditer(self._text, start, limit + 1)), default=start)
        return space if space > start else limit

    def _ends(self, start: int, match: re.Match[str]) -> bool | None:
        """Whether a sentence ends at this mark; None while only the text to come can tell."""
        if match["clause"]:
            return not self._given and len(self._text[start : match.start()].split()) >= self._first_words
        if not match["stop"] or match["stop"].strip("\"'”’)]*_`»") != ".":
            return True
        before = self._text[start : match.start()]
        word = before.split()[-1].lower().lstrip("([{\"'“‘*_`") if before.strip() else ""
        if (word.isdigit() and word == before.strip()) or word in _TITLES:
            return False
        if word == "no":
            following = self._following(match)
            return None if following is None else not following.isdigit()
        initial = len(word) == 1 and word.isalpha() and word != "i"
        if initial or word in _MAYBE or re.fullmatch(r"(?:[a-z]\.)+[a-z]", word):
            following = self._following(match)
            return None if following is None else following.isupper() and not initial
        return True

    def _following(self, match: re.Match[str]) -> str | None:
        """The first character after the mark that is no white space; None while there is none."""
        position = self._past_space(match.end())
        return self._text[position] if position < len(self._text) else None
