"""The base of every shape that a reader of the feed is told in."""

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Data(BaseModel):
    """A line's data. Readers ignore fields that they do not know."""

    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True)


Delivery = Literal["new_turn", "request_boundary", "native", "parallel"]
Disposition = Literal[
    "answered", "answered_question", "failed", "unknown", "withdrawn", "held", "superseded", "rejected", "backchannel", "listened"
]
