"""Finds a class of a LiveKit Agents plugin by the name that settings give it, and makes it with their options."""

import importlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from voiceagent.errors import ConfigError, ModelError

Kind = Literal["STT", "TTS", "LLM", "VAD"]

PREFIX: Final = "livekit:"
_EXTRA: Final = "pip install 'voiceagent[livekit]'"
_WHAT: Final = {"STT": "recognizer", "TTS": "voice", "LLM": "language model", "VAD": "voice detector"}
_OURS: Final = ("http_session", "client")  # what the program gives a plugin, or leaves to it; never an option


@dataclass(frozen=True, slots=True)
class PluginClass:
    """A plugin's class, found: `name` as settings have it (`livekit:deepgram`), `plugin` the package's (`deepgram`)."""

    name: str
    plugin: str
    kind: Kind
    maker: type

    @property
    def takes_session(self) -> bool:
        """Whether it wants an aiohttp session, which must be made on the loop that it runs on."""
        return "http_session" in _parameters(self)

    def make(self, options: Mapping[str, object], session: object = None) -> object:
        """The plugin's own object; keys are read by the plugin from the environment variables that its documentation names.

        Raises ConfigError for an option that it does not know, and ModelError when it refuses what it was given.
        """
        known = _parameters(self)
        for option in options:
            if option in _OURS or option not in known:
                choice = ", ".join(name for name in known if name not in _OURS)
                raise ConfigError(f"{self.name} has no option `{option}`; it has: {choice}")
        given = dict(options) | ({"http_session": session} if self.takes_session and session is not None else {})
        try:
            return _call(self)(**given)
        except Exception as error:
            raise ModelError(f"{self.name} cannot be used: {error}") from error


def find(name: str, kind: Kind) -> PluginClass:
    """The class that `livekit:PLUGIN` or `livekit:PLUGIN.CLASS` stands for; blocks, about two seconds the first time.

    Without CLASS it is the plugin's STT, TTS, LLM or VAD. Raises ConfigError, with the command that installs what is missing.
    """
    plugin, _, path = name.removeprefix(PREFIX).partition(".")
    _import("livekit.agents", name, _EXTRA)
    package = found = _import(f"livekit.plugins.{plugin}", name, f"pip install livekit-plugins-{plugin.replace('_', '-')}")
    for part in (path or kind).split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type) or not issubclass(found, _base(kind)):
        wanted = f"no {kind} called {path}" if path else f"no {_WHAT[kind]} ({kind})"
        raise ConfigError(f"{name}: the plugin {plugin} has {wanted}; it has: {_classes(package, kind)}")
    return PluginClass(name, plugin, kind, found)


def _import(module: str, name: str, command: str) -> object:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigError(f"{name}: {error.name} is not installed; run: {command}") from None
    except Exception as error:
        raise ModelError(f"{name}: {module} cannot be imported: {error}") from error


def _classes(package: object, kind: Kind) -> str:
    """The names of a plugin's classes of one kind, for whoever named another."""
    own = (name for name, value in vars(package).items() if isinstance(value, type) and issubclass(value, _base(kind)))
    return ", ".join(sorted(own)) or f"none that is a {kind}"


def _base(kind: Kind) -> type:
    agents = importlib.import_module("livekit.agents")
    base: type = getattr(getattr(agents, kind.lower()), kind)
    return base


def _call(found: PluginClass) -> type:
    """What makes the object: the class, or its `load`, which some detectors have instead of a constructor."""
    maker: type = getattr(found.maker, "load", found.maker)
    return maker


def _parameters(found: PluginClass) -> tuple[str, ...]:
    taken = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(name for name, one in inspect.signature(_call(found)).parameters.items() if one.kind in taken)
