"""What a sentence's words are to the notes: stems, the ones that carry meaning, numbers as digits. English only, no I/O."""

import re
from difflib import SequenceMatcher

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+")

# Words that carry grammar, politeness or the shape of a question, and never the thing that is asked about.
_EMPTY_TEXT = """
a an the this that these those there here it its itself i me my mine myself we us our ours you your yours he him his she her
hers they them their theirs who whom whose what which when where why how am is are was were be been being do does did done
doing have has had having can could will would shall should may might must ought and or but if then than so because as of at
by for with about against between into through during before after above below to from up down in out on off over under again
further once at only own same too very just not no nor both each few more most other some such any all also ever yet still
already now soon later today tomorrow tonight yesterday always usually often sometimes never anymore please thanks thank hello
hi hey okay ok well oh um uh er hmm yes yeah sorry excuse actually maybe perhaps really quite get gets got getting go goes
going went come comes coming came take takes taken took taking give gives gave given make makes made know knows known tell
tells told say says said want wants wanted need needs needed like likes liked let lets look looking find found think thinks
wonder wondering ask asking asked try trying use used using happen happens happened seem mean let's much many long far old big
often lot lots kind kinds sort thing things something anything everything nothing somebody someone anybody anyone everybody
everyone nobody people person place way possible able allowed alright good right exactly question address located location one
ones dont can't cannot won't isn't aren't doesn't don't didn't i'm i'd i've i'll you're we're they're it's that's there's
what's where's who's how's when's he's she's let's s t d ll ve re m cost costs price prices charge charges pay time hour hours
day days available offer offers offered provide provides help without within put keep keeps kept whats wheres hows im id ive
while mother father mom dad husband wife friend friends dollar dollars cent cents minute minutes week weeks month months year
years until till
"""
_EMPTY = frozenset(_EMPTY_TEXT.split())

_ASKING = re.compile(
    r"(and |so |but |or )?(who|whom|whose|what|whats|which|when|where|wheres|why|how|is|are|was|were|do|does|did|can|could|will|"
    r"would|shall|should|may|might|must|have|has|am|what's|where's|who's|how's|when's|isn't|aren't|don't|doesn't|can't)\b",
    re.IGNORECASE,
)

_FILLERS = re.compile(
    r"\b(?:(?:um+|uh+|er+|erm|hmm+|well|so|oh|hello|hi|hey|please|excuse me|sorry)\b(?:,\s*|\s+|$)"
    r"(?!(?:that|much|many|far|long)\b)|"
    r"i was(?:, uh,|, um,)? (?:just )?wondering\b(?: if| whether)?,?\s*|(?:can|could) you tell me\b,?\s*|"
    r"i(?:'d| would) like to know\b,?\s*|do you know\b,?\s*|, (?:um|uh|er|say),)",
    re.IGNORECASE,
)

_UNIT_TEXT = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
"""
_TEN_TEXT = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINAL_TEXT = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ENDING_TEXT = "ingly:4 edly:4 ings:4 ing:4 ies:2 ied:2 ed:3 es:4 s:3 ly:4"
_UNITS = {word: number for number, word in enumerate(_UNIT_TEXT.split())}
_TENS = {word: 10 * place for place, word in enumerate(_TEN_TEXT.split(), start=2)}
_ORDINALS = {word: place for place, word in enumerate(_ORDINAL_TEXT.split(), start=1)}
_ENDINGS = tuple((ending, int(shortest)) for ending, shortest in (pair.split(":") for pair in _ENDING_TEXT.split()))


def tokens(text: str) -> list[str]:
    """Lower-case words and digit runs, hyphens split, number words joined to digits: `Twenty-two e-bikes` is `22 e bikes`."""
    raw = _WORD.findall(text.lower().replace("\u2019", "'").replace("wi-fi", "wifi"))
    joined: list[str] = []
    for word in (part.removesuffix("'s") for part in raw):
        if word in _UNITS and joined and joined[-1] in _TENS:
            joined[-1] = str(_TENS[joined[-1]] + _UNITS[word])
        else:
            joined.append(word)
    return [_digits(word) for word in joined]


def ordinal(word: str) -> str | None:
    """The digits of a spoken ordinal up to twelfth, else None."""
    place = _ORDINALS.get(word)
    return None if place is None else str(place)


def is_empty(word: str) -> bool:
    """Whether a word says nothing about what is asked: grammar, politeness, single letters and bare numbers."""
    return word in _EMPTY or len(word) < 2 or word.isdigit()


def content(text: str) -> list[str]:
    """The words that carry meaning, in order, each stem once."""
    seen: dict[str, str] = {}
    for word in tokens(text):
        if not is_empty(word):
            seen.setdefault(stem(word), word)
    return list(seen.values())


def unfilled(text: str) -> str:
    """The text less its hesitations and run-ups (`Um, I was, uh, wondering`); the text itself when nothing else is left."""
    bare = _FILLERS.sub("", text).strip(" ,")
    return bare if content(bare) else text


def is_question(text: str) -> bool:
    """Whether it is asked rather than told: by its mark, or by the word it opens with."""
    return text.rstrip().endswith("?") or _ASKING.match(text.strip()) is not None


def stem(word: str) -> str:
    """A crude English stem: enough to join `printing`, `prints` and `printed`, and to leave `ring` and `bus` alone."""
    for ending, shortest in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= shortest and not word.endswith("ss"):
            base = word[: -len(ending)]
            if ending in ("ies", "ied"):
                return base + "i"
            return _trim(base)
    return _trim(word)


def misheard(word: str, other: str) -> float:
    """0..1: how likely one is a recognizer's slip for the other; 0 below five letters or when too little agrees."""
    if min(len(word), len(other)) < 5 or word[0] != other[0]:
        return 0.0
    ratio = SequenceMatcher(None, word, other).ratio()
    return ratio if ratio >= 0.85 else 0.0


def _trim(base: str) -> str:
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lse":
        base = base[:-1]
    if len(base) > 3 and base.endswith("e"):
        return base[:-1]
    if len(base) > 3 and base.endswith("y"):
        return base[:-1] + "i"
    return base


def _digits(word: str) -> str:
    if word in _UNITS:
        return str(_UNITS[word])
    return str(_TENS[word]) if word in _TENS else word
