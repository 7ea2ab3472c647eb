"""What the notes brain does about a turn's notes: offers, goes on after a cut, says what it has in mind. Pure."""

import re
from typing import Final

from voiceagent.llm.notes.facts import Fact, sentences

_CHARACTERS_A_SECOND: Final = 15  # what the default voice says; only where to go on depends on it
_BORDER: Final = 25
_OPENING: Final = "I could tell you about "
_CLOSING: Final = "Shall I?"
_THINKING: Final = re.compile(
    r"\bwhat(?: are|'re|\u2019re) you thinking\b|\bwhat(?:'s|\u2019s| is) on your mind\b|\bpenny for your thoughts\b|"
    r"\bwhat do you (?:think|make of (?:it|this|that))(?: (?:of|about) (?:it|this|that))?(?:,? \w+)?\W*$",
    re.IGNORECASE,
)
_YES: Final = re.compile(
    r"(?:(?:yes|yeah|yep|yup|sure|okay|ok|please|go on|go ahead|do|tell (?:me|us)|of course|why not|absolutely|definitely|"
    r"(?:that would|that'd) be (?:nice|great|good|lovely|helpful)|(?:i'd|we'd|i would|we would) (?:like|love) (?:that|to))\s*)+"
)
_NAME: Final = re.compile(r"\bYou are ([^\W\d_][\w'-]*)")
_QUOTES: Final = re.compile('["\u00ab\u00bb\u201c\u201d\u201e\u201f\u300c\u300d\uff02]')
_LONGEST: Final = 300


def asks_for_thought(text: str) -> bool:
    """Whether somebody wants to know what the agent has in mind."""
    return _THINKING.search(text) is not None


def think_aloud(thought: str | None, wishes: tuple[str, ...]) -> str:
    """The thought as it is, and what the agent would have said."""
    return " ".join(part for part in (thought, *wishes) if part) or "I have nothing in mind yet."


def offer(facts: list[Fact]) -> str:
    """An offer to tell a fact, by the heading that it stands under."""
    if not facts:
        return "I have looked in my notes, and it is not there."
    heading = facts[0].heading
    if not heading:
        return f"I could tell you something about that. {_CLOSING}"
    return f"{_OPENING}{heading[0].lower()}{heading[1:]}. {_CLOSING}"


def is_offer(said: str | None) -> bool:
    """Whether the agent's last words were an offer."""
    return said is not None and said.endswith(_CLOSING)


def accepts(text: str, name: str) -> bool:
    """Whether an offer is taken up, by nothing but a yes."""
    bare = re.sub(r"[^\w' ]+", " ", text.lower().replace("\u2019", "'"))
    words = [word for word in bare.split() if word != name.lower()]
    return bool(words) and _YES.fullmatch(" ".join(words)) is not None


def gone_on(whole: str, played_ms: int) -> str:
    """The rest of a cut answer, from the border of words or clauses where its sound stopped; its last sentence when all of it may
    have sounded."""
    at = played_ms * _CHARACTERS_A_SECOND // 1000
    if at >= len(whole):
        return f"As I was saying: {sentences(whole)[-1]}"
    at = whole.rfind(" ", 0, at + 1) + 1
    borders = [found.end() for found in re.finditer(r"[.,;:!?]\s+", whole[:at])]
    if borders and at - borders[-1] <= _BORDER:
        at = borders[-1]
    return f"As I was saying: {whole[at:]}" if at else whole


def name_in(system_prompt: str) -> str:
    """The agent's own name, as its system prompt says it; empty when it says none."""
    found = _NAME.search(system_prompt)
    return found[1] if found is not None and found[1].lower() not in ("a", "an", "the") else ""


def key(text: str) -> str:
    """A fact's text as a thought quotes it: on one line, bounded, with one kind of quotation marks."""
    return _QUOTES.sub("'", " ".join(text.split()))[:_LONGEST]
