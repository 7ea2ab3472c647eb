"""Every error the project raises on purpose: one child a layer, each message naming what to change."""


class VoiceAgentError(Exception):
    """Base of all errors that a caller may want to tell apart from a bug."""


class ConfigError(VoiceAgentError):
    """A setting is unknown, missing or out of range."""


class ModelError(VoiceAgentError):
    """A model file is missing, damaged or cannot be fetched."""


class AudioError(VoiceAgentError):
    """Sound that cannot be read or has a shape nobody can use."""


class SpeechError(VoiceAgentError):
    """A recognizer, voice or detector failed."""


class LanguageModelError(VoiceAgentError):
    """A language model did not answer, or answered with rubbish; `category` is safe to show, and holds no prompt or key."""

    def __init__(self, message: str, category: str = "failed") -> None:
        super().__init__(message)
        self.category = category


class RoomError(VoiceAgentError):
    """A room refuses what was asked of it."""


class QuestionRefusedError(RoomError):
    """An agent may not ask this, or not now; the message says what to change."""


class RoomArchivedError(RoomError):
    """The room is closed for good: it can be read, and nothing more happens in it."""


class StoreError(RoomError):
    """A store could not keep or read events; what was acknowledged before stays."""


class TransportError(VoiceAgentError):
    """A line to a person could not be opened or broke."""


class WebError(VoiceAgentError):
    """A request from outside that cannot be served."""
