"""The page for people about a room's lines: how to follow them, and every type in one table."""

from typing import Final

from pydantic import BaseModel

from voiceagent.web import command
from voiceagent.web.schema.table import LINES, LineType

_HEAD: Final = """\
# A room's lines

Made by `python -m tools.schema` from the models in `voiceagent/web/schema`. Machines read `openapi.json` and `asyncapi.json`
beside this page, which a running server also gives at `/v1/openapi.json` and `/v1/asyncapi.json`.

## Following a room

`GET /v1/rooms/{room}/events` sends server-sent events, `/v1/rooms/{room}/stream` is a WebSocket; both carry the same objects:

    {"v": 1, "seq": 43, "at_ms": 5210, "time": "2026-01-01T12:00:05.210Z", "type": "generation.started", "room_id": "lobby",
     "channel_id": "agent", "generation_id": "g3", "responds_to": "i7", "data": {"initial_input_id": "i7", ...}}

Durable lines have a `seq`: gapless in the room, stored with it, and the same after a restart of the server where the room's store
keeps lines. Droppable ones have `after` instead, the last `seq` before them, and may be lost when a reader is slow.
`channel_id`, `session_id`, `generation_id` and `responds_to` are there where they mean something.

- **Opening.** `stream.ready`, then what was asked for with `?after=` (or the header `Last-Event-ID`), then `stream.snapshot`: the
  room as it is behind line `data.seq`. What follows is news; a snapshot may already know of what the next few lines tell.
- **Resuming.** Give the last `seq` as `after`. A room keeps its newest 10,000 lines; what is older is named by
  `stream.gap {from, to}`. A `stream.ready` whose `after` is below the number asked for says that the room's numbers began anew.
- **Asking for less.** `?types=speech.*,generation.finished`, `?generation=<id>,<id>` and `?purpose=answer` leave other lines out;
  a reader who does sees holes in `seq`. `stream.*` always comes.
- **Who sees what.** Participants are never sent decisions, thoughts, whispers or internal records, and so see holes, too. A
  host's token shows decisions, thoughts and listening; `?audience=host` shows a host everything.
- **Ends.** `stream.lagging`: you read too slowly, resume behind your last `seq`. `stream.closed {reason}`: the room is closed,
  the token has expired, or the store failed. `stream.alive` comes every 15 seconds; without one for 30 the line is dead.
- **Tokens.** `Authorization: Bearer <token>`, and `participant-key: <key>` for whoever acts as a participant. A browser's
  WebSocket offers them as protocols: `new WebSocket(url, ["voiceagent.v1", "bearer." + token, "key." + key])`.

## Commands

Over the WebSocket, or as the body of `POST /v1/rooms/{room}/commands`:

    {"type": "input.submit", "id": "b7e23ec2-1", "data": {"text": "What time is it?"}}

Each is answered once: over the WebSocket by `{"v": 1, "type": "ack", "room_id": "lobby", "data": {...}}`, over HTTP by its data:

    {"id": "b7e23ec2-1", "accepted": true, "duplicate": false, "disposition": "queued", "input_id": "9f..."}

The `id` is the client's own, 8 to 64 characters. The same command again is not done again: it is acknowledged as a `duplicate`,
with how far it has come. The same id with other content is refused. What is not accepted has done nothing, and says why in
`error {code, message}`; a WebSocket stays open. Over HTTP a body that is no command is answered by status 400.
Hosts may give every command. Others must be in the room, by their participant key; they do not cancel jobs. `question.answer`
and `question.dismiss` are for hosts and for whoever was ever in the question's room; who comes second is told who was first
(`already_ended`, with the question as it stands in `question`).

## The inbox

`GET /v1/inbox` lists the questions of all rooms that a token opens: of its one room, or of every room for a host's token that
was made without a room (`voiceagent keys --host`). `GET /v1/inbox/events` sends the same list as `inbox.snapshot` and then every
`question.*` line of any room, open or not, with the whole question in `entry`; these have no `seq`, who comes again begins with a
snapshot. `POST /v1/inbox/commands` takes `question.answer` and `question.dismiss`, and opens no room for it. `GET /v1/overview`
says how the rooms stand: people, calls, agents, what waits.

## The commands


"""


def events_page() -> str:
    """The page in Markdown."""
    parts = [_HEAD, _commands(), "\n## Lines\n\n", _lines([t for t in LINES if not t.stream])]
    return "".join([*parts, "\n## Lines of the stream itself\n\n", _lines([t for t in LINES if t.stream])])


def _commands() -> str:
    kinds = command.Command.__args__
    rows = ["| type | data | what it does |", "|---|---|---|"]
    for kind in kinds:
        name = kind.model_fields["type"].annotation.__args__[0]
        data = kind.model_fields["data"].annotation
        assert isinstance(data, type) and issubclass(data, BaseModel)
        rows.append(f"| `{name}` | {_fields(data)} | {_sentence(kind)} |")
    return "\n".join(rows) + "\n"


def _lines(types: list[LineType]) -> str:
    rows = ["| type | data | what it tells |", "|---|---|---|"]
    for type in types:
        notes = ["droppable" if type.droppable else "", "hosts" if type.hosts else ""]
        marks = "".join(f" ({note})" for note in notes if note)
        rows.append(f"| `{type.name}`{marks} | {_fields(type.data)} | {type.says} |")
    return "\n".join(rows) + "\n"


def _fields(model: type[BaseModel]) -> str:
    """Names of fields; those that may be missing or null have a question mark."""
    named = ((field.alias or name, field.is_required()) for name, field in model.model_fields.items())
    return ", ".join(f"{name}" if required else f"{name}?" for name, required in named)


def _sentence(model: type[BaseModel]) -> str:
    return " ".join((model.__doc__ or "").split())
