"""Which devices asked to be notified, kept in a file where one is named."""

import logging
import os
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from voiceagent.errors import ConfigError
from voiceagent.web.push.subscription import Subscription

log = logging.getLogger(__name__)

MOST: Final = 500
"""Devices; the one that asked first makes place for one more."""

_ROWS: Final[TypeAdapter[list[Subscription]]] = TypeAdapter(list[Subscription])


class Book:
    """Devices by their endpoints; a small file that is written anew with every change."""

    def __init__(self, file: Path | None) -> None:
        """Raises ConfigError when the file cannot be read."""
        self._file = file
        self._rows: OrderedDict[str, Subscription] = OrderedDict()
        if file is not None and file.exists():
            try:
                self._rows.update((row.endpoint, row) for row in _ROWS.validate_json(file.read_bytes()))
            except (OSError, ValidationError) as error:
                raise ConfigError(f"[web.push] file {file} holds no devices: {type(error).__name__}; move it away") from error

    @property
    def all(self) -> Sequence[Subscription]:
        """Every device."""
        return tuple(self._rows.values())

    def put(self, subscription: Subscription) -> None:
        """Keeps or replaces a device."""
        self._rows.pop(subscription.endpoint, None)
        self._rows[subscription.endpoint] = subscription
        while len(self._rows) > MOST:
            self._rows.popitem(last=False)
        self._write()

    def forget(self, endpoint: str) -> None:
        """Lets go of a device; nothing when it is not known."""
        if self._rows.pop(endpoint, None) is not None:
            self._write()

    def _write(self) -> None:
        if self._file is None:
            return
        new = self._file.with_name(f"{self._file.name}.new")
        try:
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(_ROWS.dump_json(list(self._rows.values())))
            new.replace(self._file)
        except OSError:
            log.exception("the devices that are notified are not kept beyond this run")
