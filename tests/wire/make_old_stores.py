"""Makes store files of schema versions 1 to 3, as programs before the first release of this one would have left them.

    python make_old_stores.py VERSION PATH

The statements are frozen: they say what such files look like, not what today's program does.
"""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

_EVENTS = (
    "CREATE TABLE events (id TEXT NOT NULL UNIQUE, room_id TEXT NOT NULL, idx INTEGER NOT NULL, type TEXT NOT NULL,"
    " status TEXT NOT NULL, channel_id TEXT NOT NULL, participant_id TEXT, correlation_id TEXT, event TEXT NOT NULL,"
    " UNIQUE (room_id, idx))"
)
_PARTICIPANTS = (
    "CREATE TABLE participants (seat INTEGER PRIMARY KEY, room_id TEXT NOT NULL, participant_id TEXT NOT NULL,"
    " participant TEXT NOT NULL, UNIQUE (room_id, participant_id))"
)
_KEYS = (
    "ALTER TABLE events ADD COLUMN idempotency_key TEXT",
    "CREATE UNIQUE INDEX events_key ON events (room_id, channel_id, idempotency_key) WHERE idempotency_key IS NOT NULL",
)


def make(version: int, path: Path) -> list[str]:
    """Makes a file of version 1, 2 or 3 with one room, "old", of four events, the third of them blocked; returns their ids.

    From version 2 on there is a participant, "ana"; in version 3 the first event has the idempotency key "k1".
    """
    if version not in (1, 2, 3):
        raise ValueError(f"there are old files of the versions 1 to 3, not {version}")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("BEGIN")
        db.execute(_EVENTS)
        if version >= 2:
            db.execute(_PARTICIPANTS)
            person = {"id": "ana", "display_name": "Ana", "role": "member", "connected_via": ["voice"], "active": True}
            db.execute("INSERT INTO participants VALUES (1, 'old', 'ana', ?)", (json.dumps(person),))
        if version >= 3:
            for statement in _KEYS:
                db.execute(statement)
        ids = [_insert(db, index, version) for index in range(4)]
        db.execute(f"PRAGMA user_version = {version}")
        db.execute("COMMIT")
    return ids


def _insert(db: sqlite3.Connection, index: int, version: int) -> str:
    """One event, whose JSON has the fields that its version knew."""
    answer = index % 2 == 1
    event: dict[str, object] = {
        "id": f"old-{index}",
        "room_id": "old",
        "source": {
            "channel_id": "assistant" if answer else "voice",
            "channel_type": "ai" if answer else "voice",
            "direction": "outbound" if answer else "inbound",
            "participant_id": None if answer else "ana",
        },
        "content": {"body": f"line {index}", "kind": "text"},
        "created_at": f"2025-06-01T12:00:0{index}Z",
        "type": "message",
        "status": "blocked" if index == 2 else "delivered",
        "blocked_by": "filter" if index == 2 else None,
        "visibility": "all",
        "index": index,
        "correlation_id": "turn-1" if answer else None,
        "metadata": {"version": version},
    }
    columns = ["old", index, "message", event["status"], "assistant" if answer else "voice", None if answer else "ana"]
    row = [event["id"], *columns, event["correlation_id"]]
    if version >= 3:
        event["idempotency_key"] = "k1" if index == 0 else None
        row = [*row, json.dumps(event), event["idempotency_key"]]
    else:
        row = [*row, json.dumps(event)]
    db.execute(f"INSERT INTO events VALUES ({', '.join('?' * len(row))})", row)
    return f"old-{index}"


if __name__ == "__main__":
    make(int(sys.argv[1]), Path(sys.argv[2]))
