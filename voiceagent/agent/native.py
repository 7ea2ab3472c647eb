"""Input given to a model while it answers: how such a model is asked, and what is known of each attempt."""

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from voiceagent.agent.inbox import Given
from voiceagent.errors import LanguageModelError
from voiceagent.llm.model import Message, Steered

Attempt = Literal["sent", "refused", "unknown"]


@runtime_checkable
class SteersLive(Protocol):
    """A model that takes input while its stream runs; what becomes of it is told in the stream, as `Steered`."""

    async def steer_live(self, input_id: str, message: Message) -> bool:
        """False: nothing has happened, and the input may go another way. True: the input is the model's now, which says nothing
        about whether it will be used. Anything else, an exception too, leaves it open, and the input goes no other way."""
        ...


@dataclass(slots=True)
class _Sent:
    """An attempt: `taken` once the model has said so, `response_id` is the response that ran when it accepted the input."""

    given: Given
    taken: bool = False
    response_id: str | None = None


class Native:
    """One generation's attempts, one at a time."""

    def __init__(self, model: object) -> None:
        self._model = model
        self._sent: dict[str, _Sent] = {}
        self._lost: list[str] = []

    @property
    def ready(self) -> bool:
        """Whether the model takes input, and no attempt is on its way."""
        return not self._sent and isinstance(self._model, SteersLive)

    async def attempt(self, given: Given) -> Attempt:
        """Hands an input to the model. Never raises for what the model does."""
        if not isinstance(self._model, SteersLive):
            return "refused"
        self._sent[given.input_id] = _Sent(given)
        try:
            taken: object = await self._model.steer_live(given.input_id, given.message)
        except Exception:  # noqa: BLE001 - what it has done is not known, and is not done again another way
            taken = None
        sent = self._sent.get(given.input_id)
        if taken is True:
            if sent is not None:
                sent.taken = True
            return "sent"
        self._sent.pop(given.input_id, None)
        return "refused" if taken is False else "unknown"

    def read(self, told: Steered) -> Given | None:
        """What the model tells of an input: returns the one that failed before it was accepted, which may go another way.

        Raises LanguageModelError when the response that applies an input is the one that ran when it was accepted.
        """
        sent = self._sent.get(told.input_id)
        if sent is None:
            return None
        match told.state:
            case "accepted":
                sent.response_id = sent.response_id or told.response_id
            case "applied":
                if sent.response_id == told.response_id:
                    raise LanguageModelError("the model applied an input in the response that ran when it took it", "protocol")
                del self._sent[told.input_id]
            case "failed":
                del self._sent[told.input_id]
                if sent.response_id is None:
                    return sent.given
                self._lost.append(told.input_id)
        return None

    def knows(self, input_id: str) -> bool:
        """Whether an input is on its way to the model, or with it and not known to have been used."""
        return input_id in self._sent

    def pending(self) -> tuple[str, ...]:
        """What the model has taken and is not known to have used, or is known not to."""
        return (*self._lost, *(input_id for input_id, sent in self._sent.items() if sent.taken))
