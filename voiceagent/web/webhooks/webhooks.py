"""All receivers of one program: they live as long as it does."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from random import random
from types import TracebackType
from typing import Final, Self

from voiceagent import __version__
from voiceagent.errors import ConfigError
from voiceagent.room.cursors.store import kept_cursors
from voiceagent.room.line import FeedEvent
from voiceagent.room.lines.store import kept_lines
from voiceagent.room.store import Store
from voiceagent.web.webhooks.hook import Hook, Manner, Source
from voiceagent.web.webhooks.sender import HttpSender, Sender
from voiceagent.web.webhooks.settings import WebhookSettings
from voiceagent.web.webhooks.signature import Signer

LAST_MS: Final = 2_000
"""How long the program's end waits for what can be told at once; the rest is told after the next start."""


class Webhooks:
    """Use it as `async with`, around the engine's life; `on_line` is for the engine that stores the lines.

    A line is posted until its receiver answers with 2xx, a room's lines in their order, each again when the program dies between
    the answer and its note of it: receivers know a line again by `webhook-id`. Rooms wait for nothing of this.
    """

    def __init__(
        self,
        settings: WebhookSettings,
        store: Store,
        environ: Mapping[str, str],
        *,
        sender: Sender | None = None,
        chance: Callable[[], float] = random,
    ) -> None:
        """`chance` (0 to 1) spreads waits. Raises ConfigError when a secret is missing or none, or the store keeps no lines."""
        lines = kept_lines(store)
        cursors = kept_cursors(lines)
        if lines is None or cursors is None:
            raise ConfigError("webhooks need a store that keeps the lines of feeds and how far somebody was told of them")
        most = settings.at_once * max(1, len(settings.hooks))
        self._sender = sender or HttpSender(most, __version__)
        manner = Manner(self._sender, settings, chance)
        source = Source(lines, cursors)
        self._hooks = tuple(Hook(hook, _signer(hook.name, hook.secret_env, environ), source, manner) for hook in settings.hooks)
        self._running: list[asyncio.Task[None]] = []

    @property
    def waiting(self) -> Mapping[str, int]:
        """For each receiver: rooms with something that it has not taken."""
        return {hook.name: hook.waiting for hook in self._hooks}

    @property
    def failing(self) -> int:
        """How many receivers did not take their last delivery."""
        return sum(hook.failing for hook in self._hooks)

    def on_line(self, line: FeedEvent) -> None:
        """A durable line is stored."""
        for hook in self._hooks:
            hook.on_line(line)

    async def __aenter__(self) -> Self:
        for hook in self._hooks:
            await hook.begin()
        self._running = [asyncio.create_task(hook.run(), name=f"webhook {hook.name}") for hook in self._hooks]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_MS / 1000):
                await asyncio.gather(*(hook.quiet() for hook in self._hooks))
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._sender.close()


def _signer(name: str, variable: str, environ: Mapping[str, str]) -> Signer:
    try:
        return Signer(environ.get(variable, ""))
    except ValueError as error:
        raise ConfigError(f"webhook {name}: the environment variable {variable} must hold its secret: {error}") from None
