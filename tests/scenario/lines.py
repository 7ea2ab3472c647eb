"""Holds what a feed is told against the table of line types, so that the table stays what readers are promised."""

import sys
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from voiceagent.room.feed import Feed
from voiceagent.web.schema.table import LINES

TYPES = {type.name: type for type in LINES}


def fault(name: str, data: dict[str, Any], durable: bool, audience: str) -> str | None:
    """What a line has that its type does not promise; None when it fits."""
    type = TYPES.get(name)
    if type is None:
        return f"{name} is no type of voiceagent/web/schema/table.py"
    if durable is type.droppable:
        return f"{name} is {'durable' if durable else 'droppable'}, and the table says otherwise"
    if type.hosts and audience != "host":
        return f"{name} is for hosts, and was told to all"
    try:
        type.data.model_validate(data, extra="forbid")
    except ValidationError as error:
        told = error.errors(include_url=False, include_context=False)[0]
        return f"{name}: {'.'.join(map(str, told['loc']))}: {told['msg']} (of {data})"
    return None


def watching(publish: Callable[..., None], faults: list[str]) -> Callable[..., None]:
    """Feed.publish, with a note of each line of the program's own that does not fit. What tests publish is their affair."""

    def checked(self: Feed, type: str, data: dict[str, Any], **options: Any) -> None:
        if str(sys._getframe(1).f_globals["__name__"]).startswith("voiceagent."):
            found = fault(type, data, options.get("durable", True), options.get("audience", "all"))
            faults.extend([] if found is None else [found])
        publish(self, type, data, **options)

    return checked
