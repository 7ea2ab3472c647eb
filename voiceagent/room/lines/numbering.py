"""Which number each line of a batch gets, decided the same way for every store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from voiceagent.room.line import FeedEvent
from voiceagent.room.lines.store import FeedEnd

FILLED: Final = 1_000
"""How many events that had no line are given one before the next one at most, the newest of them."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line to be written under its number. `index` is that of the event it tells of; the line of another event that had none
    is written with the moment of the one behind it."""

    seq: int
    index: int | None
    line: FeedEvent


@dataclass(frozen=True, slots=True)
class Plan:
    """The rows to write, the number of each given line (None: it has one already), and where each room's feed ends then."""

    rows: Sequence[Row]
    numbers: list[int | None]
    ends: Mapping[str, FeedEnd]


def untold(lines: Sequence[FeedEvent], ends: Mapping[str, FeedEnd]) -> dict[str, tuple[int, int]]:
    """For each room in which events may have been left out: the last one told, and the last one that is told now."""
    told = {room: end.told for room, end in ends.items()}
    found: dict[str, tuple[int, int]] = {}
    for line in lines:
        index = index_of(line)
        if index is None or index <= told[line.room_id]:
            continue
        if index > told[line.room_id] + 1:
            found[line.room_id] = (found.get(line.room_id, (told[line.room_id],))[0], index)
        told[line.room_id] = index
    return found


def numbered(lines: Sequence[FeedEvent], ends: Mapping[str, FeedEnd], missing: Mapping[str, Sequence[int]]) -> Plan:
    """Numbers lines behind their rooms' ends. `missing`: rising indices of events without a line, where there are some."""
    now = dict(ends)
    rows: list[Row] = []
    numbers: list[int | None] = []
    for line in lines:
        end = now[line.room_id]
        index = index_of(line)
        if index is not None and index <= end.told:
            numbers.append(None)
            continue
        seq = end.seq
        for other in missing.get(line.room_id, ()) if index is not None else ():
            if end.told < other < (index or 0):
                seq += 1
                rows.append(Row(seq, other, line))
        seq += 1
        rows.append(Row(seq, index, line))
        numbers.append(seq)
        now[line.room_id] = FeedEnd(seq, end.told if index is None else index, end.last)
    return Plan(rows, numbers, now)


def index_of(line: FeedEvent) -> int | None:
    """The index of the event that a line tells of."""
    return None if line.event is None else line.event.index
