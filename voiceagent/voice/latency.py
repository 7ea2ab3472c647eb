"""How long a person waits: from the end of their speech to its words, to the answer's first word, to its first sound."""

from dataclasses import dataclass

from voiceagent.room.turns import Heard


@dataclass(frozen=True, slots=True)
class TurnLatency:
    """One turn's waits in milliseconds; they add up to the total."""

    input_id: str
    end_of_speech_to_words_ms: int
    words_to_first_token_ms: int
    first_token_to_first_sound_ms: int

    @property
    def total_ms(self) -> int:
        """From the end of speech to the first sound."""
        return self.end_of_speech_to_words_ms + self.words_to_first_token_ms + self.first_token_to_first_sound_ms


def latency_of(input_id: str, heard: Heard, first_word: int, first_sound: int) -> TurnLatency:
    """The waits of a turn as it was measured (see room/turns.py); times are clock.now() milliseconds."""
    return TurnLatency(input_id, max(0, heard.words - heard.ended), first_word - heard.words, max(0, first_sound - first_word))
