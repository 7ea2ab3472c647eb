"""The Postgres tables that keep rooms, and how those of an older program become today's."""

from typing import Final

EVENT_COLUMNS: Final = (
    "id",
    "type",
    "status",
    "channel_id",
    "participant_id",
    "correlation_id",
    "idempotency_key",
    "responds_to",
    "event",
    "input_ids",
    "room_id",
    "idx",
)
"""One column for each thing that events are found by. `event` is the whole event as JSON text without its index, which is only
known once the row is written; `input_ids` the other events that an answer took in, null where it took in none."""

INDEX_TAKEN: Final = "events_place"
KEY_TAKEN: Final = "events_key"

PREPARE: Final = (
    # One process at a time, for two that make the same table at once trip over each other.
    "SELECT pg_advisory_xact_lock(7163420917)",
    'CREATE TABLE IF NOT EXISTS events (id TEXT COLLATE "C" NOT NULL PRIMARY KEY, room_id TEXT COLLATE "C" NOT NULL,'
    " idx BIGINT NOT NULL, type TEXT NOT NULL, status TEXT NOT NULL, channel_id TEXT NOT NULL, participant_id TEXT,"
    " correlation_id TEXT, idempotency_key TEXT, event TEXT NOT NULL, CONSTRAINT events_place UNIQUE (room_id, idx))",
    "CREATE UNIQUE INDEX IF NOT EXISTS events_key ON events (room_id, channel_id, idempotency_key)"
    " WHERE idempotency_key IS NOT NULL",
    'CREATE TABLE IF NOT EXISTS participants (room_id TEXT COLLATE "C" NOT NULL, participant_id TEXT NOT NULL,'
    " participant TEXT NOT NULL, seat BIGINT GENERATED ALWAYS AS IDENTITY, PRIMARY KEY (room_id, participant_id))",
    'ALTER TABLE events ADD COLUMN IF NOT EXISTS responds_to TEXT COLLATE "C"',
    "ALTER TABLE events ADD COLUMN IF NOT EXISTS input_ids TEXT[]",
    "CREATE INDEX IF NOT EXISTS events_responds_to ON events (room_id, responds_to, idx) WHERE responds_to IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS events_input_ids ON events USING gin (input_ids) WHERE input_ids IS NOT NULL",
    'CREATE TABLE IF NOT EXISTS jobs (job_id TEXT COLLATE "C" NOT NULL PRIMARY KEY, room_id TEXT COLLATE "C" NOT NULL,'
    " channel_id TEXT NOT NULL, generation_id TEXT NOT NULL, call_id TEXT NOT NULL, told BOOLEAN NOT NULL, job TEXT NOT NULL,"
    " place BIGINT GENERATED ALWAYS AS IDENTITY, UNIQUE (room_id, channel_id, generation_id, call_id))",
    "CREATE INDEX IF NOT EXISTS jobs_untold ON jobs (room_id, place) WHERE NOT told",
    # One row a room: whoever appends holds it until the commit, and so no index is given twice or left out.
    'CREATE TABLE IF NOT EXISTS rooms (room_id TEXT COLLATE "C" NOT NULL PRIMARY KEY, next_index BIGINT NOT NULL)'
    " WITH (fillfactor = 50)",
    "INSERT INTO rooms (room_id, next_index) SELECT room_id, max(idx) + 1 FROM events"
    " WHERE NOT EXISTS (SELECT FROM rooms) GROUP BY room_id",
    "INSERT INTO rooms (room_id, next_index) SELECT DISTINCT room_id, 0 FROM participants"
    " WHERE NOT EXISTS (SELECT FROM rooms WHERE rooms.room_id = participants.room_id)",
    # A room's feed: one row that whoever appends holds, and its lines. A line that tells of an event has that event's index. What
    # an older program has stored stays untold.
    "DO $$ BEGIN IF to_regclass('feeds') IS NULL THEN"
    ' CREATE TABLE feeds (room_id TEXT COLLATE "C" NOT NULL PRIMARY KEY, seq BIGINT NOT NULL, told BIGINT NOT NULL)'
    " WITH (fillfactor = 50);"
    " INSERT INTO feeds (room_id, seq, told) SELECT room_id, 0, max(idx) FROM events GROUP BY room_id; END IF; END $$",
    'CREATE TABLE IF NOT EXISTS lines (room_id TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL, type TEXT NOT NULL,'
    " generation_id TEXT, input_id TEXT, idx BIGINT, writer TEXT NOT NULL, batch BIGINT NOT NULL, line TEXT NOT NULL,"
    " PRIMARY KEY (room_id, seq))",
    # What became of answers with each person; participant '' is nobody in particular. `strength` orders the states.
    'CREATE TABLE IF NOT EXISTS consumption (event_id TEXT COLLATE "C" NOT NULL, channel_id TEXT COLLATE "C" NOT NULL,'
    ' participant_id TEXT COLLATE "C" NOT NULL, room_id TEXT COLLATE "C" NOT NULL, strength INTEGER NOT NULL,'
    " writer TEXT NOT NULL, state TEXT NOT NULL, heard_chars INTEGER NOT NULL, played_ms INTEGER NOT NULL, at TEXT NOT NULL,"
    " word TEXT, PRIMARY KEY (event_id, channel_id, participant_id))",
    "CREATE INDEX IF NOT EXISTS consumption_open ON consumption (room_id) WHERE state IN ('queued', 'playing')",
    # Questions that agents asked people. `pending`: something is left to do; `by_person_at`: seconds at which a person ended it.
    'CREATE TABLE IF NOT EXISTS questions (question_id TEXT COLLATE "C" NOT NULL PRIMARY KEY, room_id TEXT COLLATE "C" NOT NULL,'
    ' asked_in TEXT COLLATE "C" NOT NULL, open BOOLEAN NOT NULL, pending BOOLEAN NOT NULL, by_person_at BIGINT,'
    " question TEXT NOT NULL, place BIGINT GENERATED ALWAYS AS IDENTITY)",
    "CREATE INDEX IF NOT EXISTS questions_about ON questions (room_id) WHERE pending",
    "CREATE INDEX IF NOT EXISTS questions_asked ON questions (asked_in) WHERE pending",
    "CREATE INDEX IF NOT EXISTS questions_open ON questions (place) WHERE open",
    "CREATE INDEX IF NOT EXISTS questions_ended ON questions (by_person_at) WHERE by_person_at IS NOT NULL",
    # What is known of rooms besides what happened in them.
    'CREATE TABLE IF NOT EXISTS register (room_id TEXT COLLATE "C" NOT NULL PRIMARY KEY, entry TEXT NOT NULL)',
    # Hosts that this one is paired with: keys are in here, as passwords of other servers are.
    'CREATE TABLE IF NOT EXISTS pairings (pairing_id TEXT COLLATE "C" NOT NULL PRIMARY KEY, pairing TEXT NOT NULL)',
    # How far followers outside have been told of each room's feed, and the process that tells them.
    'CREATE TABLE IF NOT EXISTS cursors (follower TEXT NOT NULL, room_id TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL,'
    " owner TEXT NOT NULL, PRIMARY KEY (follower, room_id))",
)
"""Statements for one transaction; they change nothing where everything is as it should be."""
