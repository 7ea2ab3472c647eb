"""The documents under docs/: as the models make them, whole in themselves, and about every route and line there is."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Route, WebSocketRoute

from tools.schema import documents, stale
from voiceagent.room.engine import RoomEngine
from voiceagent.web.command import Command
from voiceagent.web.schema.table import LINES
from voiceagent.web.server import build
from voiceagent.web.settings import WebSettings
from voiceagent.web.status import Status

PEERS = {"/v1/paired", *(f"/v1/paired/{it}" for it in ("join", "questions", "commands", "asked", "asked/{question_id}"))}
"""What paired hosts say to each other, which is theirs alone."""

FOREIGN = {"/v1/rooms/{room}/rtvi", *PEERS}
"""What others have described: the door speaks their protocol there."""


def document(name: str) -> dict[str, Any]:
    return dict(json.loads(documents()[name]))


def references(value: object) -> Iterator[str]:
    """Every `$ref` anywhere in a document."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            yield from references(one)


def test_the_documents_are_as_the_models_make_them() -> None:
    assert stale() == [], "run: python -m tools.schema"


@pytest.mark.parametrize("name", ["openapi.json", "asyncapi.json"])
def test_every_reference_leads_somewhere(name: str) -> None:
    whole = document(name)
    found = set(references(whole))
    assert found
    for reference in found:
        place: Any = whole
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]


def test_every_route_is_described() -> None:
    app: Any = build(None, RoomEngine(), WebSettings(), lambda: Status("0", "nobody"))  # type: ignore[arg-type]
    while not isinstance(app, Starlette):
        app = vars(app)["_app"]
    routes = {route.path for route in app.routes if isinstance(route, Route)}
    sockets = {route.path for route in app.routes if isinstance(route, WebSocketRoute)}
    assert routes - FOREIGN == set(document("openapi.json")["paths"])
    assert document("asyncapi.json")["channels"]["room"]["address"] in sockets


def test_every_type_is_there_once_and_says_what_it_tells() -> None:
    names = [type.name for type in LINES]
    assert len(names) == len(set(names))
    assert all(type.says.endswith(".") for type in LINES)
    page = documents()["events.md"]
    assert [name for name in names if f"| `{name}`" not in page] == []


def test_every_command_is_there() -> None:
    kinds = {str(kind.model_fields["type"].annotation.__args__[0]) for kind in Command.__args__}
    assert kinds == {
        "input.submit",
        "input.withdraw",
        "generation.cancel",
        "generation.steer",
        "job.cancel",
        "message.read",
        "keypad.press",
        "question.answer",
        "question.dismiss",
    }
    page = documents()["events.md"]
    assert [kind for kind in kinds if f"| `{kind}`" not in page] == []
