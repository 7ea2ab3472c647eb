"""What one answer has taken in and what it has left in its room, by ids."""

from collections.abc import Sequence

from voiceagent.values import JSON


class Account:
    """One generation's identities. What it lists is a copy: it does not change afterwards."""

    def __init__(self, inputs: Sequence[str]) -> None:
        self._inputs: list[str] = []
        self._accepted: list[str] = []
        self._events: list[str] = []
        for input_id in inputs:
            self.took(input_id)

    @property
    def inputs(self) -> tuple[str, ...]:
        """What it has taken in, in order, each once."""
        return tuple(self._inputs)

    @property
    def accepted(self) -> tuple[str, ...]:
        """What its model has accepted while it answered, and is not known to have used."""
        return tuple(self._accepted)

    def took(self, input_id: str) -> None:
        """It was put before the model in a request, or the model is known to have used it."""
        self.dropped(input_id)
        if input_id not in self._inputs:
            self._inputs.append(input_id)

    def accepts(self, input_id: str) -> None:
        """The model has it; said again, or of what was taken in, it changes nothing."""
        if input_id not in self._inputs and input_id not in self._accepted:
            self._accepted.append(input_id)

    def dropped(self, input_id: str) -> None:
        """The model will not use it."""
        if input_id in self._accepted:
            self._accepted.remove(input_id)

    def stored(self, event_id: str) -> None:
        """A row of the answer is in the room."""
        self._events.append(event_id)

    def listed(self) -> dict[str, JSON]:
        """Inputs taken in and accepted, as events carry them."""
        return {"input_ids": list(self._inputs), "accepted_input_ids": list(self._accepted)}

    def left(self) -> dict[str, JSON]:
        """The rows, as the end of the generation carries them."""
        return {"event_ids": list(self._events)}
