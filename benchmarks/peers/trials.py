"""One person's conversation with a system, trial by trial, and what is measured in each at the person's ear."""

from dataclasses import dataclass

from benchmarks.peers import hearing
from benchmarks.peers.line import Line
from benchmarks.peers.plan import Clip
from benchmarks.peers.speaker import RATE, Samples
from benchmarks.peers.system import Brain, Talk

QUIET_MS = 1_000
"""The person speaks when the agent has been quiet this long."""

PATIENCE_MS = 8_000
"""How long they wait for an answer."""

ANSWERED_MS = 4_500
"""When no answer has begun after such a silence, none will: the slowest fallback on incomplete turns is 3 s."""

INTO_REPLY = RATE * 3 // 2
"""How far into an answer they speak over it."""


@dataclass(frozen=True, slots=True)
class Wait:
    """A turn: `wait_ms` from the true end of speech to the first sound of an answer that begins after it; None where none does.
    `early`: how often the agent began to speak before that end; `heard` what its brain was last asked."""

    clip: str
    wait_ms: float | None
    early: int
    pauses: int
    heard: str


@dataclass(frozen=True, slots=True)
class LongReply:
    """A reply to be spoken over: its number, its text, and how many samples it takes."""

    number: int
    text: str
    length: int


@dataclass(frozen=True, slots=True)
class Over:
    """Sound made over an answer. Times in ms from that sound's onset, None where it did not happen.

    `played` is the share of the answer's usual length that sounded; `claimed` what the system holds to have been heard of it,
    None where it has no such answer in its memory; `answered_ms` from the end of the sound to the next answer. The last three
    are found afterwards: the words that sounded (the last one in part), those that `claimed` has, and those of the whole reply.
    """

    clip: str
    reply: int
    ducked_ms: float | None
    silent_ms: float | None
    played: float
    claimed: str | None
    answered_ms: float | None
    words_heard: float = 0.0
    words_claimed: int = 0
    words: int = 0


class Trials:
    """Runs trials on one line."""

    def __init__(self, line: Line, brain: Brain, talk: Talk, short: str) -> None:
        self._line = line
        self._brain = brain
        self._talk = talk
        self._short = short

    async def ask(self, clip: Clip) -> Wait:
        """Says something in the quiet, and waits for the answer to begin and end."""
        line = self._line
        await line.quiet(QUIET_MS)
        at = line.say(clip.sound())
        begin, end = at + clip.begin, at + clip.end
        await line.until(end)
        first = await self._answer(begin, end)
        heard = line.speaker.recording(begin, line.now())
        early = sum(1 for sounding, _ in hearing.soundings(heard) if sounding < end - begin)
        wait = None if first is None else (first - end) * 1000 / RATE
        return Wait(clip.name, wait, early, clip.pauses, self._brain.asked[-1] if self._brain.asked else "")

    async def speak_over(self, clip: Clip, question: Clip, reply: LongReply) -> tuple[Over, Samples]:
        """Lets a long reply sound, makes this sound into it, and sees what becomes of the reply.

        Also returns what sounded of it at the person's ear: up to the next answer, or to its own end.
        """
        line = self._line
        await line.quiet(QUIET_MS)
        known = len(self._talk.said())
        self._brain.text = reply.text
        asked = line.say(question.sound())
        if not await line.sounds(asked + question.end, PATIENCE_MS):
            self._brain.text = self._short
            return Over(clip.name, reply.number, None, None, 0.0, None, None), line.speaker.recording(0, 0)
        began = await self._began(asked + question.end)
        await line.until(began + INTO_REPLY)
        self._brain.text = self._short
        at = line.say(clip.sound())
        onset, end = at + clip.begin, at + clip.end
        await line.until(end + RATE // 2)
        await self._over(began, reply.length)
        return self._seen(clip, reply, (began, onset, end), self._talk.said()[known:])

    async def _answer(self, begin: int, end: int) -> int | None:
        """Where an answer begins after `end`, once the line has been quiet again."""
        line = self._line
        while True:
            heard = line.speaker.recording(begin, line.now())
            first = hearing.first_after(heard, end - begin)
            if first is not None or line.now() > end + RATE * PATIENCE_MS // 1000:
                return None if first is None else begin + first
            await line.sounds(max(end, line.now()), 500)

    async def _over(self, began: int, length: int) -> None:
        """Returns when the agent is quiet: at once when all of the reply sounded, else when no answer comes any more."""
        await self._line.quiet(QUIET_MS)
        heard = self._line.speaker.recording(began, self._line.now())
        if sum(end - begin for begin, end in hearing.soundings(heard)) < 0.9 * length:
            await self._line.quiet(ANSWERED_MS)

    async def _began(self, after: int) -> int:
        """Where the reply began that sounds now."""
        line = self._line
        begin = hearing.first_after(line.speaker.recording(after, line.now()), 0)
        return after if begin is None else after + begin

    def _seen(self, clip: Clip, reply: LongReply, at: tuple[int, int, int], said: list[str]) -> tuple[Over, Samples]:
        began, onset, end = at
        heard = self._line.speaker.recording(began, self._line.now())
        spans = hearing.soundings(heard)
        silent = hearing.silent_after(heard, onset - began)
        ducked = hearing.ducked_after(heard, onset - began)
        spoken, later = _divided(spans, end - began, reply.length)
        claimed = _claim(said, reply.text)
        share = sum(stop - start for start, stop in spoken) / reply.length
        stopped = spoken[-1][1] if spoken else 0
        over = Over(
            clip.name,
            reply.number,
            None if ducked is None else ducked * 1000 / RATE,
            None if silent is None or (share > 0.95 and len(spoken) < 2) else silent * 1000 / RATE,
            round(share, 3),
            claimed,
            (later - (end - began)) * 1000 / RATE if later is not None else None,
        )
        return over, heard[:stopped]


def _divided(spans: list[tuple[int, int]], end: int, length: int) -> tuple[list[tuple[int, int]], int | None]:
    """Which soundings belong to the reply, and where the next answer begins.

    A sounding that begins after the person's sound is over belongs to the reply when it is long: the next answer is short.
    """
    spoken: list[tuple[int, int]] = []
    for begin, stop in spans:
        if begin > end and stop - begin < length // 4:
            return spoken, begin
        spoken.append((begin, stop))
    return spoken, None


def _claim(said: list[str], reply: str) -> str | None:
    """What the system says was heard of this reply: the last new text that begins as it does. An earlier one was an answer to the
    beginning of the question, given up as the person went on."""
    wanted = hearing_words(reply)
    for text in reversed(said):
        words = hearing_words(text)
        if words and words[0] == wanted[0] and words[:2] == wanted[: min(2, len(words))]:
            return text
    return None


def hearing_words(text: str) -> list[str]:
    """Words in lower case, of letters and apostrophes only."""
    kept = "".join(char if char.isalnum() or char == "'" else " " for char in text.lower())
    return kept.split()
