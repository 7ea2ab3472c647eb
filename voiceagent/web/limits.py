"""How often one client may ask: token buckets, for a bounded number of clients."""

from collections import OrderedDict

from voiceagent.web.refusal import Refused

CLIENTS = 4096


class Rate:
    """So many a minute for each client, all at once if they like; the longest unseen client is forgotten first."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._left: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def spend(self, client: str, now: int) -> None:
        """Counts one request at `now` (milliseconds). Raises Refused 429 when the client has none left."""
        left, seen = self._left.pop(client, (float(self._per_minute), now))
        left = min(float(self._per_minute), left + (now - seen) * self._per_minute / 60_000)
        allowed = left >= 1
        self._left[client] = (left - 1 if allowed else left, now)
        if len(self._left) > CLIENTS:
            self._left.popitem(last=False)
        if not allowed:
            raise Refused(429, f"too many requests: at most {self._per_minute} of this kind a minute")
