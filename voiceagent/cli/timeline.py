"""Pictures of decisions over time: a strip of letters for a terminal, and an SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from voiceagent.agent.past import PastTurn
from voiceagent.cli.legible import legible
from voiceagent.judgment.policy import SpeakDecision

_LETTERS: Final = {"silent": "·", "offer": "o", "speak": "S"}
_COLORS: Final = {"silent": "#a3aab8", "offer": "#d98a14", "speak": "#4b4be0"}
_CHANGED: Final = "#fdecea"
_LEFT: Final = 150
_WIDTH: Final = 1200
_LANE: Final = 30
_SHORTEST_GAP_S: Final = 1.0
_LONGEST_GAP_S: Final = 20.0
_SHORTEST: Final = 4.0


@dataclass(frozen=True, slots=True)
class Decided:
    """A past turn, and what a policy decides on it now."""

    past: PastTurn
    decision: SpeakDecision

    @property
    def changed(self) -> bool:
        """Whether the agent would have kept silent where it spoke, or the other way round."""
        return self.past.answered == (self.decision.mode == "silent")


def strip(turns: Sequence[Decided], width: int) -> list[str]:
    """Three lines for as many turns as fit, again and again: what was done then, what would be done now, where they differ."""
    size = max(10, width - 6)
    lines: list[str] = []
    for start in range(0, len(turns), size):
        part = turns[start : start + size]
        lines.append("then  " + "".join(_LETTERS["speak" if one.past.answered else "silent"] for one in part))
        lines.append("now   " + "".join(_LETTERS[one.decision.mode] for one in part))
        lines.append("      " + "".join("^" if one.changed else " " for one in part).rstrip())
    return lines


def drawn(rooms: Mapping[str, Sequence[Decided]], agent: str) -> str:
    """An SVG with a band a room: a lane for each person, one for what the agent did, one for what it would do."""
    parts = ['<rect width="100%" height="100%" fill="#fff"/>']
    for place, (mode, color) in enumerate(_COLORS.items()):
        parts += [_dot(_LEFT + 6 + place * 110, 22, color), _text(_LEFT + 18 + place * 110, 26, mode)]
    parts += [_rect((_LEFT + 330, 14, 14, 16), _CHANGED), _text(_LEFT + 352, 26, "would change")]
    top = 46
    for room_id, turns in rooms.items():
        speakers = list(dict.fromkeys(one.past.speaker for one in turns))
        parts += _band(turns, speakers, top, (f"Room {room_id}", f"{agent} then", f"{agent} now"))
        top += _LANE * (len(speakers) + 2) + 62
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top}" width="{_WIDTH}" height="{top}" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="#171a21">{"".join(parts)}</svg>\n'
    )


def _band(turns: Sequence[Decided], speakers: Sequence[str], top: float, names: tuple[str, str, str]) -> list[str]:
    title, *agents = names
    lanes = [*speakers, *agents]
    spans = _spans(turns)
    head = top + 26
    parts = [_text(12, top + 14, title, weight="600")]
    for (start, width), one in zip(spans, turns, strict=True):
        if one.changed:
            parts.append(_rect((start - 2, head - 4, max(width, 10) + 4, _LANE * len(lanes) + 4), _CHANGED))
    for place, lane in enumerate(lanes):
        y = head + _LANE * (place + 0.5)
        parts.append(f'<line x1="{_LEFT}" y1="{y}" x2="{_WIDTH - 12}" y2="{y}" stroke="#e0e3ea"/>')
        parts.append(_text(_LEFT - 10, y + 4, lane[:20], anchor="end"))
    for (start, width), one in zip(spans, turns, strict=True):
        y = head + _LANE * speakers.index(one.past.speaker)
        then, now = (head + _LANE * (len(speakers) + place + 0.5) for place in (0, 1))
        decision = one.decision
        parts.append(_rect((start, y + 8, width, 14), "#0fa396", f"{one.past.speaker}: {one.past.turn.event.content.body}"))
        parts.append(_dot(start + width, then, _COLORS["speak" if one.past.answered else "silent"], one.past.answer))
        parts.append(_dot(start + width, now, _COLORS[decision.mode], f"{decision.mode}: {decision.reason}"))
    return parts


def _rect(place: tuple[float, float, float, float], fill: str, title: str = "") -> str:
    x, y, width, height = place
    where = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {where} rx="3" fill="{fill}"><title>{escape(legible(title[:300]))}</title></rect>'


def _dot(x: float, y: float, fill: str, title: str = "") -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{fill}"><title>{escape(legible(title[:300]))}</title></circle>'


def _text(x: float, y: float, words: str, *, anchor: str = "start", weight: str = "400") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{escape(legible(words))}</text>'


def _spans(turns: Sequence[Decided]) -> list[tuple[float, float]]:
    """Where each turn lies, and how wide: long pauses are shortened, so that a day with two talks in it can be seen."""
    places: list[tuple[float, float]] = []
    at, before = 0.0, None
    for one in turns:
        ends = one.past.turn.event.created_at.timestamp()
        step = _SHORTEST_GAP_S if before is None else min(_LONGEST_GAP_S, max(_SHORTEST_GAP_S, ends - before))
        before = ends
        at += step
        places.append((at, min(_lasted_s(one, step), at)))
    scale = (_WIDTH - _LEFT - 40) / max(1.0, at)
    return [(_LEFT + 10 + (end - lasted) * scale, max(_SHORTEST, lasted * scale)) for end, lasted in places]


def _lasted_s(one: Decided, step: float) -> float:
    """How long it was spoken; typed words last as long as reading them aloud would, and no longer than there was time."""
    told = one.past.turn.event.metadata
    start, end = told.get("start_ms"), told.get("end_ms")
    if isinstance(start, int) and isinstance(end, int) and end > start:
        return min((end - start) / 1000, _LONGEST_GAP_S)
    return min(len(one.past.turn.event.content.body) / 15, 0.8 * step)
