"""Web Push over HTTP: the server's public key, and devices that ask to be notified or to be left alone."""

from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from voiceagent.web.body import read
from voiceagent.web.door import Door
from voiceagent.web.push.pusher import Pusher
from voiceagent.web.push.subscription import Device, Endpoint, Subscription
from voiceagent.web.refusal import Refused

_OFF: Final = "this server does not push: voiceagent keys --push makes a key for [web.push]"


class PushPages:
    """Answers /v1/push and /v1/push/devices; without a pusher, there is no key and no device is taken."""

    def __init__(self, door: Door, pusher: Pusher | None) -> None:
        self._door = door
        self._pusher = pusher

    async def key(self, request: Request) -> Response:
        """GET: the public key that a browser subscribes with; null where nothing is pushed."""
        return JSONResponse({"key": None if self._pusher is None else self._pusher.public_key})

    async def devices(self, request: Request) -> Response:
        """POST: notifies a device from now on. DELETE: no more. Raises Refused."""
        reach = self._door.reach(request)
        if self._pusher is None:
            raise Refused(404, _OFF)
        limit = self._door.settings.max_body_bytes
        if request.method == "DELETE":
            self._pusher.book.forget((await read(request, Endpoint, limit)).endpoint)
        else:
            device = await read(request, Device, limit)
            self._pusher.book.put(Subscription.of(device, reach, self._pusher.settings.services))
        return Response(status_code=204)
