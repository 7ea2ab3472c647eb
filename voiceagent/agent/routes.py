"""By what way an input reaches an agent's answers, when it comes while others are being made; decided without a loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Route = Literal["new_turn", "request_boundary", "native", "parallel", "none"]


@dataclass(frozen=True, slots=True)
class Running:
    """An answer of the agent, as an input finds it.

    `same_person`: it answers the one who speaks now. `open`: its generation has begun and has not ended. `boundary`: it will ask
    its model again, for a tool runs. `native`: the request that runs takes input. `heard`: something of it has sounded.
    """

    same_person: bool
    open: bool = True
    boundary: bool = False
    native: bool = False
    heard: bool = False


@dataclass(frozen=True, slots=True)
class Arrival:
    """An input about which the agent has decided to speak.

    `spoken`: answers sound in this room, one after the other. `replaces`: it may take the place of answers that nobody has heard,
    as a murmur may not. `steers`: it is meant for the answer that is being made. `plain`: it is nothing but text.
    """

    speaks: bool = True
    spoken: bool = False
    replaces: bool = True
    steers: bool = False
    plain: bool = True


@dataclass(frozen=True, slots=True)
class Way:
    """The way taken: `into` is the place of the answer that is joined, `instead` the places of those that are given up."""

    route: Route
    into: int | None = None
    instead: tuple[int, ...] = ()


def way_of(arrival: Arrival, running: Sequence[Running]) -> Way:
    """The way of one input, `running` in the order in which the answers began.

    A person who goes on joins the answer that will ask its model again, or whose model takes input as it answers. Where answers
    sound, one of which nothing was heard is given up for an answer to both; whoever cuts one that is heard is the voice's to say.
    What others asked is answered beside.
    """
    if not arrival.speaks:
        return Way("none")
    mine = [place for place, answer in enumerate(running) if answer.same_person]
    newest = next((place for place in reversed(mine) if running[place].open), None)
    if newest is not None:
        if running[newest].native and arrival.plain:
            return Way("native", newest)
        if running[newest].boundary or arrival.steers:
            return Way("request_boundary", newest)
    instead: tuple[int, ...] = ()
    if arrival.spoken and arrival.replaces:
        instead = tuple(place for place in mine if not running[place].heard)
    beside = any(answer.open for place, answer in enumerate(running) if place not in instead)
    return Way("parallel" if beside else "new_turn", instead=instead)
