"""Which of a room's channels a reply is for."""

from collections.abc import Sequence

from voiceagent.room.live import LiveRoom
from voiceagent.room.passage import refusal
from voiceagent.room.reply import Reply
from voiceagent.room.seat import Seat
from voiceagent.room.visibility import narrow, reaches


def hearers(room: LiveRoom, reply: Reply) -> Sequence[Seat]:
    """The seats that may hear it, none when its speaker may not write; it is made to reach no further than its speaker may."""
    if reply.channel_id is not None:
        speaker = room.seat(reply.channel_id)
        if speaker is None or refusal(speaker.binding) is not None:
            return ()
        reply.visibility = narrow(reply.visibility, speaker.binding.visibility, room.channel_types())
    terms = ((seat, seat.binding) for seat in room.seats)
    return [seat for seat, one in terms if one.can_read and reaches(reply.visibility, one.channel_id, one.channel_type)]
