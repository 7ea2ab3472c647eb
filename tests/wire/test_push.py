"""Web Push against a push service on this machine: what arrives is opened with the device's own keys, as a browser would."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import http_ece
import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from playwright.async_api import expect
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from typer.testing import CliRunner

from tests.wire.asked import Asked
from tests.wire.browser import browsing, serving
from tests.wire.door import Receiver
from voiceagent.cli.main import app as cli
from voiceagent.room.engine import RoomEngine
from voiceagent.web.auth import EVERY_ROOM, issue
from voiceagent.web.names import participant_id
from voiceagent.web.push.book import Book
from voiceagent.web.push.envelope import Envelopes
from voiceagent.web.push.pusher import Pusher
from voiceagent.web.push.settings import PushSettings
from voiceagent.web.server import build
from voiceagent.web.settings import WebSettings
from voiceagent.web.status import Status
from voiceagent.web.webhooks.sender import HttpSender

SECRET = "s" * 40
NEVER = 4_000_000_000
KEY = CliRunner().invoke(cli, ["keys", "--push"]).output.strip()
SETTINGS: dict[str, Any] = {"key": SecretStr(KEY), "subject": "mailto:ops@example.org", "services": ("127.0.0.1",)}


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class Phone:
    """A device's keys."""

    def __init__(self) -> None:
        self._private = ec.generate_private_key(ec.SECP256R1())
        self._secret = bytes(range(16))

    def device(self, endpoint: str) -> dict[str, Any]:
        point = self._private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"endpoint": endpoint, "keys": {"p256dh": b64(point), "auth": b64(self._secret)}}

    def open(self, body: bytes) -> dict[str, Any]:
        clear = http_ece.decrypt(body, private_key=self._private, auth_secret=self._secret, version="aes128gcm")
        return dict(json.loads(clear))


class Service:
    """A push service; `says` are its next answers, 201 when there are none."""

    def __init__(self) -> None:
        self.says: list[int] = []
        self.url = ""
        self._posted: asyncio.Queue[tuple[str, dict[str, str], bytes]] = asyncio.Queue()

    async def take(self, request: Request) -> Response:
        await self._posted.put((request.path_params["device"], dict(request.headers), await request.body()))
        return Response(status_code=self.says.pop(0) if self.says else 201)

    async def next(self) -> tuple[str, dict[str, str], bytes]:
        async with asyncio.timeout(10):
            return await self._posted.get()

    @property
    def posted(self) -> int:
        return self._posted.qsize()


@asynccontextmanager
async def pushing(web: WebSettings | None = None, **more: Any) -> AsyncIterator[tuple[Asked, Service, Pusher]]:
    """A server that pushes to a service beside it, with the agent in two rooms."""
    service, settings = Service(), PushSettings.model_validate({**SETTINGS, **more})
    sealer, sender = Envelopes(settings), HttpSender(4, "test")
    web = web or WebSettings()
    async with AsyncExitStack() as stack:
        routes = [Route("/{device}", service.take, methods=["POST"])]
        service.url = await stack.enter_async_context(serving(Starlette(routes=routes), WebSettings()))
        engine = await stack.enter_async_context(RoomEngine())
        pusher = await stack.enter_async_context(Pusher(settings, sealer, sender))
        engine.questions.watchers.watch(pusher.take)
        app = build(Receiver(engine), engine, web, lambda: Status("0", "nobody"), pusher=pusher)
        there = Asked(await stack.enter_async_context(serving(app, web)), engine)
        for room in ("den", "hall"):
            await there.room(room)
        yield there, service, pusher


async def subscribe(there: Asked, device: dict[str, Any], **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=there.url, headers=headers) as client:
        return await client.post("v1/push/devices", json=device)


async def quiet(pusher: Pusher) -> None:
    """Returns once nothing is on its way any more."""
    async with asyncio.timeout(10):
        await pusher.quiet()


async def test_an_urgent_question_is_pushed_once_and_sealed_and_no_other_is() -> None:
    async with pushing() as (there, service, pusher), httpx.AsyncClient(base_url=there.url) as client:
        phone = Phone()
        assert (await subscribe(there, phone.device(f"{service.url}phone"))).status_code == 204
        await there.ask("den", "Later?")
        question = await there.ask("den", "The secret venue?", urgency="now")
        await there.engine.questions.dismiss(question.question_id, None)
        await there.engine.close_room("den")
        await there.room("den")
        name, headers, body = await service.next()
        await quiet(pusher)
        assert (name, service.posted) == ("phone", 0)
        assert b"secret" not in body
        assert phone.open(body) == {"question_id": question.question_id, "kind": "question"}
        assert (headers["content-encoding"], headers["urgency"], headers["ttl"]) == ("aes128gcm", "high", "86400")
        assert len(headers["topic"]) == 32
        signed = dict(part.split("=", 1) for part in headers["authorization"].removeprefix("vapid ").split(","))
        public = (await client.get("v1/push")).json()["key"]
        assert signed["k"] == public
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), base64.urlsafe_b64decode(public + "=="))
        claims = jwt.decode(signed["t"], point, algorithms=["ES256"], audience=service.url.rstrip("/"))
        assert claims["sub"] == "mailto:ops@example.org"


async def test_the_question_itself_is_in_it_only_when_the_settings_say_so() -> None:
    async with pushing(text=True) as (there, service, _):
        phone = Phone()
        await subscribe(there, phone.device(f"{service.url}phone"))
        question = await there.ask("den", "Which <b>venue</b>?", urgency="now")
        told = phone.open((await service.next())[2])
        assert told == {"question_id": question.question_id, "kind": "question", "text": "Which <b>venue</b>?"}


async def test_a_device_is_told_of_what_its_owner_may_see_and_answer() -> None:
    closed = WebSettings(token_secret=SecretStr(SECRET))
    async with pushing(closed) as (there, service, pusher):
        anna = "a" * 32
        tokens = {
            "guest": issue(SECRET, "den", NEVER),
            "host": issue(SECRET, EVERY_ROOM, NEVER, host=True),
            "anna": issue(SECRET, "hall", NEVER),
        }
        for name, token in tokens.items():
            key = {"participant-key": anna} if name == "anna" else {}
            device = Phone().device(f"{service.url}{name}")
            assert (await subscribe(there, device, authorization=f"Bearer {token}", **key)).status_code == 204
        assert (await subscribe(there, Phone().device(f"{service.url}nobody"))).status_code == 401
        for room, more, told in (
            ("den", {}, {"guest", "host"}),
            ("den", {"private": True}, {"host"}),
            ("hall", {"asked_of": (participant_id(anna),)}, {"anna"}),
        ):
            await there.ask(room, "Now?", urgency="now", **more)
            assert {(await service.next())[0] for _ in told} == told
            await quiet(pusher)
            assert service.posted == 0


async def test_a_service_that_fails_is_asked_again_and_a_device_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "devices.json"
    async with pushing(file=file) as (there, service, pusher):
        await subscribe(there, Phone().device(f"{service.url}phone"))
        service.says = [503]
        await there.ask("den", "Now?", urgency="now")
        assert [(await service.next())[0] for _ in range(2)] == ["phone", "phone"]
        await quiet(pusher)
        assert kept(file) == [f"{service.url}phone"]
        assert file.stat().st_mode & 0o077 == 0
        service.says = [410]
        await there.ask("den", "And now?", urgency="now")
        await service.next()
        await quiet(pusher)
        await there.ask("den", "Still there?", urgency="now")
        await quiet(pusher)
        assert (service.posted, kept(file)) == (0, [])


def kept(file: Path) -> list[str]:
    """The devices in a file, as another run reads them."""
    return [row.endpoint for row in Book(file).all]


async def test_a_device_that_wants_no_more_is_left_alone() -> None:
    async with pushing() as (there, service, pusher), httpx.AsyncClient(base_url=there.url) as client:
        await subscribe(there, Phone().device(f"{service.url}phone"))
        gone = await client.request("DELETE", "v1/push/devices", json={"endpoint": f"{service.url}phone"})
        assert gone.status_code == 204
        await there.ask("den", "Now?", urgency="now")
        await quiet(pusher)
        assert service.posted == 0


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://10.0.0.1/x",
        "https://evil.example/x",
        "https://127.0.0.1:9/x",
        "https://user@127.0.0.1/x",
        "ftp://127.0.0.1/x",
        "http://[/",
    ],
)
async def test_the_server_posts_to_known_services_only(endpoint: str) -> None:
    async with pushing() as (there, _, pusher):
        assert (await subscribe(there, Phone().device(endpoint))).status_code == 400
        bad = Phone().device("https://127.0.0.1/x")
        bad["keys"]["auth"] = "A" * 40
        assert (await subscribe(there, bad)).status_code == 400
        assert list(pusher.book.all) == []


async def test_without_a_key_nothing_is_pushed() -> None:
    engine = RoomEngine()
    app = build(Receiver(engine), engine, WebSettings(), lambda: Status("0", "nobody"))
    async with engine, serving(app, WebSettings()) as url, httpx.AsyncClient(base_url=url) as client:
        assert (await client.get("v1/push")).json() == {"key": None}
        refused = await client.post("v1/push/devices", json=Phone().device("https://fcm.googleapis.com/x"))
        assert (refused.status_code, "does not push" in refused.text) == (404, True)


SUBSCRIBED = """
(device) => {
  PushManager.prototype.subscribe = async function ({ applicationServerKey }) {
    window.subscribedWith = applicationServerKey;
    return { toJSON: () => ({ ...device, expirationTime: null }), unsubscribe: async () => true };
  };
}
"""
"""In place of a push service of the browser's maker, which no browser in a test reaches."""

SHOWN = """
() => navigator.serviceWorker.ready.then((ready) => ready.getNotifications())
  .then((all) => all.map(({ title, body, tag }) => [title, body, tag]))
"""


async def test_a_browser_asks_to_be_notified_and_shows_what_is_pushed() -> None:
    async with pushing(text=True) as (there, service, _), browsing(None) as browser:
        phone = Phone()
        context = await browser.new_context(permissions=["notifications"])
        page = await context.new_page()
        worker, known = await context.new_cdp_session(page), asyncio.get_running_loop().create_future()
        worker.on("ServiceWorker.workerVersionUpdated", lambda told: _activated(told, known))
        await worker.send("ServiceWorker.enable")
        await page.goto(there.url)
        await page.click("#show-inbox")
        await page.evaluate(f"device => ({SUBSCRIBED})(device)", phone.device(f"{service.url}phone"))
        await page.click("#notify")
        await expect(page.locator("#notify")).to_have_attribute("aria-pressed", "true")
        assert await page.evaluate("window.subscribedWith") == Envelopes(PushSettings.model_validate(SETTINGS)).public_key
        question = await there.ask("den", "Which <b>venue</b>?", urgency="now")
        pushed = phone.open((await service.next())[2])
        async with asyncio.timeout(10):
            registration = await known
        message = {"origin": there.url.rstrip("/"), "registrationId": registration, "data": json.dumps(pushed)}
        await worker.send("ServiceWorker.deliverPushMessage", message)
        async with asyncio.timeout(10):
            while not (shown := await page.evaluate(SHOWN)):
                await page.evaluate("() => new Promise(requestAnimationFrame)")
        assert shown == [["A question waits for you", "Which <b>venue</b>?", question.question_id]]
        await context.close()


def _activated(told: dict[str, Any], known: asyncio.Future[str]) -> None:
    for version in told["versions"]:
        if version["status"] == "activated" and not known.done():
            known.set_result(str(version["registrationId"]))
