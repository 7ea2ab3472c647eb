"""Who hears what in one 20 ms of a room: everybody but themselves."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from voiceagent.audio.frame import Samples
from voiceagent.audio.mixer import mix, mix_minus

_Key = TypeVar("_Key")

_AGENT: Final = object()


def mixes(listeners: Sequence[_Key], talk: Mapping[_Key, Samples], agent: Samples | None) -> dict[_Key, Samples]:
    """The frame for each listener; none for whom nobody speaks. One mix serves all that do not speak themselves."""
    sources: dict[object, Samples] = {key: samples for key, samples in talk.items()}  # noqa: C416 - a key type is invariant
    if agent is not None:
        sources[_AGENT] = agent
    if not sources:
        return {}
    without = mix_minus(sources) if talk else {}
    everything = mix(tuple(sources.values()))
    heard: dict[_Key, Samples] = {}
    for listener in listeners:
        if listener not in talk:
            heard[listener] = everything
        elif len(sources) > 1:
            heard[listener] = without[listener]
    return heard
