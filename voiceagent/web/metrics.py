"""The page of figures that Prometheus reads, behind a door of its own."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from voiceagent.room.engine import RoomEngine
from voiceagent.trace.witness import Figures
from voiceagent.web.door import Door
from voiceagent.web.webhooks.webhooks import Webhooks


class MetricsPage:
    """Answers /metrics: for this machine where no secret is set, else for whoever holds a token for figures."""

    def __init__(self, door: Door, figures: Figures) -> None:
        self._door = door
        self._figures = figures

    async def get(self, request: Request) -> Response:
        """GET: the figures. Raises Refused."""
        self._door.may_read_figures(request)
        return Response(self._figures.page(), headers={"content-type": self._figures.content_type, "cache-control": "no-store"})


def show(figures: Figures, engine: RoomEngine, hooks: Webhooks, calls: Callable[[], int]) -> None:
    """Adds how much there is of what, now."""
    figures.gauge("rooms", "Rooms that are open", lambda: engine.load[0])
    figures.gauge("feed_lines_waiting", "Lines of feeds that wait for the store", lambda: engine.load[1])
    figures.gauge("calls", "Calls that run", calls)
    figures.gauge("webhooks_failing", "Webhooks that did not take their last delivery", lambda: hooks.failing)
    figures.gauge("webhook_rooms_waiting", "Rooms that a webhook must still be told of", lambda: sum(hooks.waiting.values()))
