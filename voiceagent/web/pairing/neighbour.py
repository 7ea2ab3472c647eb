"""One paired host as it is seen from here: what it last listed, and people's answers brought to it."""

from dataclasses import dataclass, replace

from pydantic import ValidationError

from voiceagent.room.pairings.pairing import Pairing
from voiceagent.values import JSON
from voiceagent.web.command import Ack, QuestionCommand
from voiceagent.web.pairing.caller import Caller, Reply, UnreachableError
from voiceagent.web.pairing.pairs import bearer
from voiceagent.web.pairing.wire import COMMANDS, QUESTIONS, Forwarded, entries
from voiceagent.web.schema.inbox import QuestionEntry


class UnpairedError(Exception):
    """The other host knows of no pairing with this one."""


@dataclass(frozen=True, slots=True)
class HostListing:
    """What a paired host has listed, and when: `at` in ms of the clock, None when it never did."""

    name: str
    reachable: bool = False
    questions: tuple[QuestionEntry, ...] = ()
    at: int | None = None

    def told(self, now: int) -> dict[str, JSON]:
        """As the inbox tells it: of a host that does not answer, what it listed last, to be read alone."""
        age: dict[str, JSON] = {} if self.at is None else {"age_ms": max(0, now - self.at)}
        return {"host": self.name, "reachable": self.reachable, "questions": [self._entry(one) for one in self.questions], **age}

    def differs(self, other: "HostListing") -> bool:
        """Whether it says something else, however old either is."""
        return replace(self, at=None) != replace(other, at=None)

    def _entry(self, entry: QuestionEntry) -> dict[str, JSON]:
        told: dict[str, JSON] = entry.model_dump(mode="json", exclude_none=True)
        return {**told, "answerable": self.reachable and entry.answerable and entry.kind == "question"}


class Neighbour:
    """One paired host. Methods raise UnpairedError when it says that it is paired no longer."""

    def __init__(self, pairing: Pairing, caller: Caller) -> None:
        self.pairing = pairing
        self._caller = caller
        self.listing = HostListing(pairing.name)
        self.looking = False

    async def look(self, now: int) -> bool:
        """Asks for its questions at `now`; returns whether that has changed what is known. Does nothing while it is asked."""
        if self.looking:
            return False
        self.looking = True
        before = self.listing
        try:
            self.listing = await self._looked(now)
        finally:
            self.looking = False
        return self.listing.differs(before)

    async def do(self, command: QuestionCommand, person: str | None) -> Ack:
        """Brings it what a person did here; the answer is its own."""
        plain = command.model_copy(update={"data": command.data.model_copy(update={"host": None})})
        body = Forwarded(command=plain, person=person).model_dump(exclude_none=True)
        try:
            reply = await self._ask("POST", COMMANDS, body)
            if reply.status == 200:
                return Ack.model_validate(reply.value)
            why = reply.reason
        except UnreachableError as error:
            why = str(error)
        except ValidationError:
            why = "its answer cannot be understood"
        name = self.pairing.name
        return Ack.refusal(command.id, "unreachable", f"{name} has not said that it took this: {why}. Try again; it is done once")

    async def _looked(self, now: int) -> HostListing:
        try:
            reply = await self._ask("GET", QUESTIONS)
        except UnreachableError:
            return replace(self.listing, reachable=False)
        found = entries(reply.value) if reply.status == 200 else None
        if found is None:
            return replace(self.listing, reachable=False)
        return HostListing(self.pairing.name, True, found, now)

    async def _ask(self, method: str, path: str, body: dict[str, JSON] | None = None) -> Reply:
        reply = await self._caller.ask(method, f"{self.pairing.address}{path}", bearer(self.pairing), body)
        if reply.unpaired:
            raise UnpairedError
        return reply
