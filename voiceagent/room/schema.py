"""The SQLite file's schema: its versions, how an older file becomes a new one, and how a file is opened."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import aiosqlite

from voiceagent import clock
from voiceagent.errors import StoreError

VERSION = 7
"""The newest version that this program reads and writes, kept in the file's `user_version`."""

EVENT_COLUMNS = (
    "id",
    "room_id",
    "idx",
    "type",
    "status",
    "channel_id",
    "participant_id",
    "correlation_id",
    "idempotency_key",
    "responds_to",
    "event",
    "input_ids",
)
"""One column for each thing that events are found by; `event` is the whole event as JSON text. `input_ids`, a JSON array of what
an answer took in besides what it responds to, goes on into the table `taken_in`, a row for each; null where there is nothing."""

# Step n makes a file of version n + 1 out of one of version n; a new file takes all of them. A step that was released
# is never changed.
_STEPS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE events (id TEXT NOT NULL UNIQUE, room_id TEXT NOT NULL, idx INTEGER NOT NULL, type TEXT NOT NULL,"
        " status TEXT NOT NULL, channel_id TEXT NOT NULL, participant_id TEXT, correlation_id TEXT, event TEXT NOT NULL,"
        " UNIQUE (room_id, idx))",
    ),
    (
        "CREATE TABLE participants (seat INTEGER PRIMARY KEY, room_id TEXT NOT NULL, participant_id TEXT NOT NULL,"
        " participant TEXT NOT NULL, UNIQUE (room_id, participant_id))",
    ),
    (
        "ALTER TABLE events ADD COLUMN idempotency_key TEXT",
        "CREATE UNIQUE INDEX events_key ON events (room_id, channel_id, idempotency_key) WHERE idempotency_key IS NOT NULL",
    ),
    (
        "ALTER TABLE events ADD COLUMN responds_to TEXT",
        "CREATE INDEX events_responds_to ON events (room_id, responds_to, idx) WHERE responds_to IS NOT NULL",
        "ALTER TABLE events ADD COLUMN input_ids TEXT",
        "CREATE TABLE taken_in (room_id TEXT NOT NULL, input_id TEXT NOT NULL, idx INTEGER NOT NULL,"
        " PRIMARY KEY (room_id, input_id, idx)) WITHOUT ROWID",
        "CREATE TRIGGER events_taken_in AFTER INSERT ON events WHEN new.input_ids IS NOT NULL BEGIN"
        " INSERT INTO taken_in SELECT new.room_id, value, new.idx FROM json_each(new.input_ids); END",
    ),
    (
        # A room's feed. A line that tells of an event has that event's index, and the event itself stays where it is.
        "CREATE TABLE lines (room_id TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, generation_id TEXT, input_id TEXT,"
        " idx INTEGER, writer TEXT NOT NULL, line TEXT NOT NULL, PRIMARY KEY (room_id, seq))",
        # The newest event whose line is gone: pruned, or never written because an older program had no feed to keep.
        "CREATE TABLE feeds (room_id TEXT NOT NULL PRIMARY KEY, told INTEGER NOT NULL) WITHOUT ROWID",
        "INSERT INTO feeds SELECT room_id, max(idx) FROM events GROUP BY room_id",
        "CREATE TRIGGER lines_pruned AFTER INSERT ON lines WHEN new.seq % 500 = 0 BEGIN"
        " INSERT OR REPLACE INTO feeds SELECT room_id, max(idx) FROM lines"
        " WHERE room_id = new.room_id AND seq <= new.seq - 10000 AND idx IS NOT NULL GROUP BY room_id;"
        " DELETE FROM lines WHERE room_id = new.room_id AND seq <= new.seq - 10000; END",
        "CREATE TABLE jobs (place INTEGER PRIMARY KEY, job_id TEXT NOT NULL UNIQUE, room_id TEXT NOT NULL,"
        " channel_id TEXT NOT NULL, generation_id TEXT NOT NULL, call_id TEXT NOT NULL, told INTEGER NOT NULL, job TEXT NOT NULL,"
        " UNIQUE (room_id, channel_id, generation_id, call_id))",
        "CREATE INDEX jobs_untold ON jobs (room_id, place) WHERE told = 0",
        # What became of answers with each person; participant '' is nobody in particular. `strength` orders the states.
        "CREATE TABLE consumption (event_id TEXT NOT NULL, channel_id TEXT NOT NULL, participant_id TEXT NOT NULL,"
        " room_id TEXT NOT NULL, strength INTEGER NOT NULL, writer TEXT NOT NULL, state TEXT NOT NULL,"
        " heard_chars INTEGER NOT NULL, played_ms INTEGER NOT NULL, at TEXT NOT NULL, word TEXT,"
        " PRIMARY KEY (event_id, channel_id, participant_id)) WITHOUT ROWID",
        "CREATE INDEX consumption_open ON consumption (room_id) WHERE state IN ('queued', 'playing')",
        # How far followers outside have been told of each room's feed; the row of room '' says that a follower is known.
        "CREATE TABLE cursors (follower TEXT NOT NULL, room_id TEXT NOT NULL, seq INTEGER NOT NULL,"
        " PRIMARY KEY (follower, room_id)) WITHOUT ROWID",
    ),
    (
        # What agents asked people. `pending`: something is left to do; `by_person_at`: the second in which a person ended it.
        "CREATE TABLE questions (place INTEGER PRIMARY KEY, question_id TEXT NOT NULL UNIQUE, room_id TEXT NOT NULL,"
        " asked_in TEXT NOT NULL, open INTEGER NOT NULL, pending INTEGER NOT NULL, by_person_at INTEGER, question TEXT NOT NULL)",
        "CREATE INDEX questions_about ON questions (room_id) WHERE pending = 1",
        "CREATE INDEX questions_asked ON questions (asked_in) WHERE pending = 1",
        "CREATE INDEX questions_open ON questions (place) WHERE open = 1",
        "CREATE INDEX questions_ended ON questions (by_person_at) WHERE by_person_at IS NOT NULL",
        # What is known of a room besides what happened in it. A room is erased by its entry, which takes all the rest along.
        "CREATE TABLE register (room_id TEXT NOT NULL PRIMARY KEY, entry TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TRIGGER register_erased AFTER DELETE ON register BEGIN"
        " DELETE FROM events WHERE room_id = old.room_id; DELETE FROM taken_in WHERE room_id = old.room_id;"
        " DELETE FROM participants WHERE room_id = old.room_id; DELETE FROM lines WHERE room_id = old.room_id;"
        " DELETE FROM feeds WHERE room_id = old.room_id; DELETE FROM jobs WHERE room_id = old.room_id;"
        " DELETE FROM consumption WHERE room_id = old.room_id;"
        " DELETE FROM questions WHERE room_id = old.room_id OR asked_in = old.room_id;"
        " DELETE FROM cursors WHERE room_id = old.room_id AND room_id <> ''; END",
    ),
    (
        # Hosts that this one is paired with: keys are in here, as passwords of other servers are.
        "CREATE TABLE pairings (pairing_id TEXT NOT NULL PRIMARY KEY, pairing TEXT NOT NULL) WITHOUT ROWID",
    ),
)


async def open_file(path: Path, busy_timeout_ms: int) -> aiosqlite.Connection:
    """A connection to a file of the newest schema, in autocommit, writing ahead; makes or migrates the file.

    Every change of schema is one transaction: a file is of its old version or of the new one, never between. Raises
    StoreError for a file of a newer version or of another program, and sqlite3.Error for what the database says.
    """
    with clock.outside():
        db = await _connect(path, busy_timeout_ms)
        try:
            await _prepare(db, path)
        except BaseException:
            await db.close()
            raise
    return db


async def _connect(path: Path, busy_timeout_ms: int) -> aiosqlite.Connection:
    """A connection, or the sqlite3.Error that the file gave.

    aiosqlite leaves its thread to itself when there is no connection to be had, and the loop may be closed before that thread
    has said its last word; so it is given an empty one, which is closed and waited for like any other.
    """
    refused: list[sqlite3.Error] = []

    def connector() -> sqlite3.Connection:
        try:
            return sqlite3.connect(path, isolation_level=None, timeout=busy_timeout_ms / 1000)
        except sqlite3.Error as error:
            refused.append(error)
            return sqlite3.connect(":memory:")

    db = await _unhindering(connector)
    if refused:
        await db.close()
        raise refused[0]
    return db


def _unhindering(connector: Callable[[], sqlite3.Connection]) -> aiosqlite.Connection:
    """A connection whose thread does not keep a process alive that forgot to close it: a thread is of its maker's kind."""
    made: list[aiosqlite.Connection] = []
    maker = Thread(target=lambda: made.append(aiosqlite.Connection(connector, iter_chunk_size=64)), daemon=True)
    maker.start()
    maker.join()
    return made[0]


async def _prepare(db: aiosqlite.Connection, path: Path) -> None:
    version = await _checked_version(db, path)
    mode = next(iter(await db.execute_fetchall("PRAGMA journal_mode = WAL")))[0]
    if mode != "wal":
        raise StoreError(f"{path} cannot keep a write-ahead log ({mode} instead): choose a file on a local disk")
    # NORMAL flushes at checkpoints only: a commit survives the death of the process at once, that of the machine a little later.
    await db.execute_fetchall("PRAGMA synchronous = NORMAL")
    if version < VERSION:
        await _migrate(db, path)
    try:
        await db.execute_fetchall(f"SELECT {', '.join(EVENT_COLUMNS)} FROM events LIMIT 0")
        await db.execute_fetchall("SELECT room_id, participant_id, participant FROM participants LIMIT 0")
    except sqlite3.OperationalError as error:
        if "no such" in str(error):
            raise StoreError(f"{path} is not a store of rooms ({error}): name another file") from error
        raise


async def _checked_version(db: aiosqlite.Connection, path: Path) -> int:
    # One statement sees one state of the file, however fast another process makes its tables.
    rows = list(await db.execute_fetchall("SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version"))
    version, tables = int(rows[0][0]), int(rows[0][1])
    if version > VERSION:
        raise StoreError(
            f"{path} has schema version {version}, and this program knows versions up to {VERSION}: "
            "install a newer version of voiceagent, or name another file"
        )
    if version < 0 or (version == 0 and tables):
        raise StoreError(f"{path} is a database of another program: name another file")
    return version


async def _migrate(db: aiosqlite.Connection, path: Path) -> None:
    await db.execute_fetchall("BEGIN IMMEDIATE")
    try:
        version = await _checked_version(db, path)  # again: another process may have been faster
        for step in _STEPS[version:]:
            for statement in step:
                await db.execute_fetchall(statement)
        await db.execute_fetchall(f"PRAGMA user_version = {VERSION}")
        await db.execute_fetchall("COMMIT")
    except BaseException:
        if db.in_transaction:
            await db.execute_fetchall("ROLLBACK")
        raise
