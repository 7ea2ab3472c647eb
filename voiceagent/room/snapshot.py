"""What a host should know of a room when it begins to follow it."""

from collections.abc import Sequence

from voiceagent.room.live import LiveRoom
from voiceagent.values import JSON

_LISTS = ("generations", "speeches", "jobs")


def snapshot(room: LiveRoom, seq: int, questions: Sequence[JSON] = ()) -> dict[str, JSON]:
    """`seq` of the newest durable line; `started_by`, None where that is not known; `people`; `listening` by agent; the
    `questions` that are open; and what the channels tell of themselves: `generations` with their text so far, `speeches` that
    sound, `jobs` that run."""
    lists: dict[str, list[JSON]] = {name: [] for name in _LISTS}
    lists["questions"] = list(questions)
    listening: dict[str, JSON] = {}
    for seat in room.seats:
        for name, told in seat.channel.snapshot(room.room_id).items():
            if isinstance(told, list):
                lists.setdefault(name, []).extend(told)
            elif name == "listening":
                listening[seat.binding.channel_id] = told
    people: list[JSON] = [
        {"participant_id": person.id, "name": person.display_name, "role": person.role.value, "active": person.active}
        for person in room.participants
    ]
    started: JSON = None if room.started_by is None else room.started_by.told()
    return {
        "room_id": room.room_id,
        "seq": seq,
        "started_by": started,
        "people": people,
        "listening": listening,
        **lists,
    }
