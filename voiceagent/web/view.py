"""What one reader of a room is shown: what they may see of it, and of that what they asked for."""

import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from voiceagent.room.feed import FeedEvent
from voiceagent.values import JSON
from voiceagent.web.refusal import Refused
from voiceagent.web.standing import Standing

HOSTS_SEE: Final = frozenset({"input.decided", "thought.updated", "room.listening"})
"""What a host is shown besides everybody's; for all else that is kept from participants, a host asks."""

_HOSTS_KNOW: Final = frozenset({"listening", "thoughts"})
"""The entries of a snapshot that only hosts are shown."""

_TYPE: Final = re.compile(r"[a-z_]+(\.[a-z_]+)*(\.\*)?")
_NAME: Final = re.compile(r"[!-+\--~]{1,128}")
_NAMES: Final = 100
_LEFT_OUT: Final = 1_000


@dataclass(frozen=True, slots=True)
class Wishes:
    """Which lines a reader wants; an empty set wants all. `everything`: also what is kept from participants, which only hosts
    may ask for."""

    types: frozenset[str] = frozenset()
    generations: frozenset[str] = frozenset()
    purposes: frozenset[str] = frozenset()
    everything: bool = False

    @classmethod
    def of(cls, query: Mapping[str, str], standing: Standing) -> "Wishes":
        """What `?types=&generation=&purpose=&audience=` ask for. Raises Refused: 400 for what is no name, 403 for too much."""
        audience = query.get("audience", "all")
        if audience not in ("all", "host"):
            raise Refused(400, "audience is all or host")
        if audience == "host" and not standing.host:
            raise Refused(403, "only hosts may follow what is kept from participants: leave audience=host out")
        return cls(
            types=_list(query, "types", _TYPE),
            generations=_list(query, "generation", _NAME),
            purposes=_list(query, "purpose", _NAME),
            everything=audience == "host",
        )


class View:
    """Chooses the lines of one reader; it is asked about every line, in order."""

    def __init__(self, standing: Standing, wishes: Wishes) -> None:
        self._host = standing.host
        self._wishes = wishes
        self._types = frozenset(name for name in wishes.types if not name.endswith(".*"))
        self._families = tuple(name.removesuffix("*") for name in wishes.types if name.endswith(".*"))
        self._other_purposes: OrderedDict[str, None] = OrderedDict()

    def shows(self, line: FeedEvent) -> bool:
        """Whether the reader is sent a line."""
        if self._wishes.purposes:
            self._learn(line)
        return self._may_see(line) and self._wants(line)

    def snapshot(self, whole: Mapping[str, JSON]) -> dict[str, JSON]:
        """The room's state without what the reader may not see; entries of lists say by `audience` whom they are for."""
        return {
            name: [one for one in value if self._may_see_entry(one)] if isinstance(value, list) else value
            for name, value in whole.items()
            if self._host or name not in _HOSTS_KNOW
        }

    def _may_see(self, line: FeedEvent) -> bool:
        return line.audience == "all" or self._wishes.everything or (self._host and line.type in HOSTS_SEE)

    def _may_see_entry(self, entry: JSON) -> bool:
        return self._wishes.everything or not isinstance(entry, dict) or entry.get("audience", "all") == "all"

    def _wants(self, line: FeedEvent) -> bool:
        wishes = self._wishes
        if wishes.types and line.type not in self._types and not line.type.startswith(self._families):
            return False
        if wishes.generations and line.generation_id not in wishes.generations:
            return False
        return line.generation_id not in self._other_purposes

    def _learn(self, line: FeedEvent) -> None:
        """Keeps in mind which answers have another purpose than those asked for; their speech may follow long after their end."""
        if line.type != "generation.started" or line.data.get("purpose") in self._wishes.purposes:
            return
        self._other_purposes[line.generation_id or ""] = None
        if len(self._other_purposes) > _LEFT_OUT:
            self._other_purposes.popitem(last=False)


def _list(query: Mapping[str, str], name: str, shape: re.Pattern[str]) -> frozenset[str]:
    asked = [part.strip() for part in query.get(name, "").split(",") if part.strip()]
    if len(asked) > _NAMES:
        raise Refused(400, f"{name} names at most {_NAMES}")
    for one in asked:
        if shape.fullmatch(one) is None or len(one) > 128:
            raise Refused(400, f"{name}: {one[:40]!r} is no name; separate names by commas")
    return frozenset(asked)
