"""What one room has heard of its questions: which one was said aloud last, and what is being read back to whom."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a person seems to have answered: an option, by its place, or their own words; not taken until they confirm it.
    `input_id` is what they said, `instruction_id` what has an agent read it back, None until that is on its way."""

    question_id: str
    participant_id: str
    input_id: str
    option: int | None = None
    text: str | None = None
    instruction_id: str | None = None


class Aloud:
    """One room's. A question stays the last thing said, from its first sound on, until something else sounds."""

    __slots__ = ("_proposals", "last")

    def __init__(self) -> None:
        self.last: str | None = None
        self._proposals: dict[str, Proposal] = {}

    def propose(self, proposal: Proposal) -> None:
        """One is to be read back to a person, in place of an earlier one."""
        self._proposals[proposal.participant_id] = proposal

    def take(self, participant_id: str) -> Proposal | None:
        """What was read back to a person who says something now; their next words confirm it, or nothing does."""
        return self._proposals.pop(participant_id, None)

    def read_back_to(self, participant_id: str) -> str | None:
        """The question whose answer is being read back to a person."""
        proposal = self._proposals.get(participant_id)
        return None if proposal is None else proposal.question_id

    def ended(self, question_id: str) -> None:
        """A question waits no more."""
        if self.last == question_id:
            self.last = None
        self._proposals = {who: one for who, one in self._proposals.items() if one.question_id != question_id}
