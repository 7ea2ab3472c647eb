"""The SQL that every database of consumption shares: what is read, and by which of two reports is kept."""

from typing import Final

from voiceagent.room.consumption.state import RANKS

READ: Final = "channel_id, participant_id, state, heard_chars, played_ms, at, word"
"""The columns of a Consumption, in the order of its fields."""

COLUMNS: Final = f"event_id, room_id, strength, writer, {READ}"
"""All of them, in the order in which they are written; `strength` orders the states, '' is no participant."""

KEEP_THE_STRONGER: Final = (
    "ON CONFLICT (event_id, channel_id, participant_id) DO UPDATE SET strength = excluded.strength,"
    " writer = excluded.writer, state = excluded.state, heard_chars = excluded.heard_chars, played_ms = excluded.played_ms,"
    " at = excluded.at, word = excluded.word WHERE (excluded.strength, excluded.heard_chars, excluded.played_ms)"
    " > (consumption.strength, consumption.heard_chars, consumption.played_ms)"
    " RETURNING event_id, channel_id, participant_id"
)
"""Behind an INSERT: a weaker report, or the same again, changes nothing and is not returned."""

END: Final = (
    f"UPDATE consumption SET strength = CASE state WHEN 'playing' THEN {RANKS['cut']} ELSE {RANKS['never_played']} END,"
    " state = CASE state WHEN 'playing' THEN 'cut' ELSE 'never_played' END"
)
"""Before a WHERE that names rows which are queued or playing: nobody will end them otherwise."""
