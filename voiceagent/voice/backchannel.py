"""What hooks are told of a sign of listening: words over a reply that do not want the turn."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backchannel:
    """Payload of ON_BACKCHANNEL: somebody says "mm-hm" or the like over the reply `speech_id`; once an utterance.

    `text` is empty for a hum or a laugh in which the recognizer found no word.
    """

    room_id: str
    session_id: str
    participant_id: str
    input_id: str
    text: str
    speech_id: str
