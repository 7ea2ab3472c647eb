"""What a host is told of a text with which it steers an agent: whether it was taken, and how far it has come."""

from dataclasses import dataclass
from typing import Literal

from voiceagent.room.ledger import Standing

ReceiptDisposition = Literal["new_turn", "queued", "applied", "held", "unknown", "refused"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """How a text fares. `input_id` is the room's id of it, None when it was refused. `duplicate`: it had been taken before.

    `disposition`: refused (nothing was taken, `reason` says why); queued (taken, no more); new_turn (an answer of its own);
    applied (put before the model, which need not obey it); held (no answer took it in); unknown (nobody knows whether one did).
    """

    input_id: str | None
    disposition: ReceiptDisposition
    reason: str | None = None
    generation_id: str | None = None
    duplicate: bool = False


def disposition_of(standing: Standing) -> ReceiptDisposition:
    """What a receipt says of an input that stands so."""
    match standing.end:
        case "held" | "unknown":
            return standing.end
        case None if not standing.delivered:
            return "new_turn" if standing.route in ("new_turn", "parallel") else "queued"
        case None | "answered" | "answered_question" | "failed" | "superseded":
            return "new_turn" if standing.route in ("new_turn", "parallel") else "applied"
        case _:
            return "held"
