"""What is said besides facts: greeting, thanks, again, goodbye, who and what the agent is. Pure: words in, words out."""

import re
from collections.abc import Mapping
from enum import Enum

from voiceagent.llm.notes.facts import Notes

_TOPICS = 6


class Courtesy(Enum):
    """An utterance that no fact is needed for."""

    GREETING = "greeting"
    THANKS = "thanks"
    AGAIN = "again"
    GOODBYE = "goodbye"
    ABLE = "able"
    WHO = "who"
    NOD = "nod"
    NOTHING = "nothing"


_OPENING = re.compile(
    r"^(?:(?:hello|hi|hey|good (?:morning|afternoon|evening|day)|greetings|how are you(?: doing)?(?: today)?|there|everyone|"
    r"(?:excuse|pardon) me|sorry|um+|uh+|er+|so|well|oh|okay|ok|yes|yeah|please|thanks|thank you(?: very much| so much)?|great|"
    r"i (?:have|had|got) (?:a|one|another|two) (?:quick )?questions?|can i ask (?:you )?(?:something|a question)|"
    r"i (?:would|wanted|want) to (?:know|ask)|can you tell me|could you tell me)\b[\s,.!?]*)+",
    re.IGNORECASE,
)
_SHAPES: Mapping[Courtesy, tuple[str, ...]] = {
    Courtesy.AGAIN: (
        r"((can|could|would) you )?(please )?(say|repeat) (that|it)( again| once more)?",
        r"what|pardon|sorry|excuse me|come again|again|once more|one more time|what was that|what did you (just )?say",
        r"i (did not|didn't|couldn't) (hear|catch|get|understand) (that|you|it)",
    ),
    Courtesy.ABLE: (
        r"(what|which things) (can|could) (you|i) (do|ask|help|say|know|tell me|ask you)( with| about| me with| me| for me)*",
        r"what do you know( about)?|how (can|could) you help( me)?|what are you (for|able to do)",
        r"((can|could) you )?help( me)?",
    ),
    Courtesy.WHO: (
        r"(who|what) are you|what is your name|what's your name|who am i (talking|speaking) (to|with)|who is this|who's this",
        r"are you (a |an )?(robot|machine|computer|human|person|real|real person|ai|bot)",
    ),
    Courtesy.THANKS: (
        r"(no )?(many )?(thanks|thank you|cheers)( a lot| very much| so much| for (that|your help|the help|everything))?",
        r"that's (very )?(kind|nice|helpful)( of you)?|that was (very )?helpful|i appreciate (it|that)",
    ),
    Courtesy.GOODBYE: (
        r"(good ?bye|bye|bye bye|good night|i have to go|talk to you later)( then| now)?",
        r"see you( later| soon| tomorrow)?|have a (nice|good|great) (day|evening|one|weekend)",
        r"that's all|that is all|that will be all",
    ),
    Courtesy.NOD: (
        r"okay|ok|alright|all right|great|good|fine|perfect|nice|wonderful|cool|yes|yeah|yep|no|nope|sure|i see|got it|right",
        r"understood|mm+|mhm|uh huh|aha|oh|ah|hm+|never ?mind|interesting|very good|sounds good",
        r"that's (fine|good|great|okay|right)",
        r"(and )?(now )?you (can|may|are allowed to) (talk|speak|answer|join in)( again| now| to us)*( please)?",
    ),
}
_COMPILED = tuple((kind, re.compile("|".join(shapes))) for kind, shapes in _SHAPES.items())
_JOINING = {"and", "then", "so", "well", "oh", "very", "much", "please", "there", "again", "today"}


def courtesy(text: str) -> Courtesy | None:
    """What kind of courtesy the whole utterance is, or None when something is asked or told besides."""
    bare = _bare(text)
    if not bare:
        return Courtesy.NOTHING
    kind = _shape(bare)
    if kind is not None:
        return kind
    parts = [_shape(part) for part in re.split(r"[,.!?]+\s*", _bare(text, keep=",.!?")) if part.strip()]
    kinds = [part for part in parts if part is not None]
    if parts and len(kinds) == len(parts):
        return max(kinds, key=lambda one: _WEIGHT[one])
    rest = _bare(opened(text))
    if rest and _shape(rest) is not None:
        return _shape(rest)
    return Courtesy.GREETING if not rest or set(rest.split()) <= _JOINING else None


def opened(text: str) -> str:
    """The utterance without its greeting, apology or run-up: what is left is the matter itself."""
    return _OPENING.sub("", text.strip()).strip()


def reply(kind: Courtesy, notes: Notes, last: str | None) -> str:
    """What is said to a courtesy; `last` is what the agent said before, for `say that again`."""
    said = {
        Courtesy.GREETING: f"Hello, this is {notes.title}. What would you like to know?",
        Courtesy.THANKS: "You are welcome.",
        Courtesy.AGAIN: last or "I have not said anything yet.",
        Courtesy.GOODBYE: "Goodbye.",
        Courtesy.ABLE: f"I answer questions from notes. {topics(notes)}".strip(),
        Courtesy.WHO: f"I am a voice agent, and I read from the notes of {notes.title}. I know only what is written there.",
        Courtesy.NOD: "All right.",
        Courtesy.NOTHING: "I did not catch that.",
    }
    return said[kind]


def unknown(again: bool) -> str:
    """What is said when the notes do not answer; shorter when it has just been said."""
    return "I don't know that either." if again else "I don't know that. It is not in my notes."


def topics(notes: Notes) -> str:
    """The headings, as far as one can listen to them; empty when there are none."""
    names = [name[0].lower() + name[1:] for name in notes.headings if name][:_TOPICS]
    if not names:
        return ""
    listed = names[0] if len(names) == 1 else f"{'; '.join(names[:-1])}; and {names[-1]}"
    more = ", among other things" if len(notes.headings) > _TOPICS else ""
    return f"You can ask me about: {listed}{more}."


_WEIGHT = {
    Courtesy.NOTHING: 0,
    Courtesy.NOD: 1,
    Courtesy.GREETING: 2,
    Courtesy.THANKS: 3,
    Courtesy.GOODBYE: 4,
    Courtesy.AGAIN: 5,
    Courtesy.WHO: 6,
    Courtesy.ABLE: 7,
}


def _bare(text: str, keep: str = "") -> str:
    lowered = text.lower().replace("\u2019", "'")
    return re.sub(r"\s+", " ", re.sub(rf"[^\w' {re.escape(keep)}]+", " ", lowered)).strip()


def _shape(bare: str) -> Courtesy | None:
    found = next((kind for kind, shape in _COMPILED if shape.fullmatch(bare.strip())), None)
    if found is not None:
        return found
    return Courtesy.GREETING if _OPENING.fullmatch(bare.strip()) else None
