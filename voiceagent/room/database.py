"""A bounded pool of connections to one Postgres database, its faults as StoreErrors, and its notices."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Final
from urllib.parse import urlsplit

import asyncpg

from voiceagent import clock
from voiceagent.errors import StoreError

log = logging.getLogger(__name__)

Value = str | int | list[str] | None

RETRY_MS: Final = 1_000
"""How long to wait before listening is tried again."""

SILENCE_MS: Final = 30_000
"""After how long without a notice the line is asked whether it is still there."""

PREPARE_MS: Final = 600_000
"""How long changing the tables may take: an index over many rows is not made in a moment."""

_MARGIN_MS: Final = 1_000  # the server gives up first, so that what was too slow has left nothing behind
_FAULTS: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, UnicodeError)
_NEXT_STEPS: Final[tuple[tuple[tuple[type[Exception], ...], str], ...]] = (
    (
        (asyncpg.QueryCanceledError, TimeoutError),
        "nothing came in time: look at what the server is busy with, or allow a longer timeout",
    ),
    (
        (asyncpg.ConnectionDoesNotExistError, asyncpg.OperatorInterventionError, ConnectionResetError),
        "the line to the server was lost: ask again once it runs; what was acknowledged before stays",
    ),
    ((asyncpg.InvalidAuthorizationSpecificationError,), "check the user and the password"),
    ((asyncpg.InvalidCatalogNameError,), "create the database, or name another"),
    (
        (asyncpg.InsufficientPrivilegeError,),
        "the user needs the right to create tables in the schema, and to read and write them",
    ),
    (
        (asyncpg.InsufficientResourcesError,),
        "free some space or connections on the server; what was stored before stays",
    ),
    ((OSError,), "check that the server runs and that its address is right"),
)


class Database:
    """Connections to one database, at most `most_connections` besides the one that listens; one asyncio loop uses it.

    Every statement is a transaction of its own. `timeout_ms` bounds each: finding a connection, making one, and the statement.
    A connection that was lost is replaced by the next statement, so that a server may restart. No message holds a password.
    """

    def __init__(self, dsn: str, *, timeout_ms: int, most_connections: int, application: str = "voiceagent") -> None:
        """`application`: what the server calls these connections, for those who look whether this process still runs."""
        self.name = _named(dsn)
        self.application = application
        self._dsn = dsn
        self._timeout_ms = timeout_ms
        self._most = most_connections
        self._pool: asyncpg.Pool | None = None
        self._closed = False

    async def open(self, statements: Sequence[str]) -> None:
        """Connects, and runs what makes the tables in one transaction, one process at a time. Raises StoreError."""
        if self._closed:
            raise StoreError(f"{self.name} is closed")
        with self._faults(), clock.outside():
            pool = self._pool or await self._connect()
            try:
                await self._prepare(pool, statements)
            except BaseException:
                if self._pool is None:
                    pool.terminate()
                raise
        self._pool = pool

    async def fetch(self, sql: str, *values: Value) -> list[asyncpg.Record]:
        """One statement and its commit. Raises StoreError; when the line was lost, what it wrote may have been kept."""
        if self._pool is None:
            raise StoreError(f"{self.name} is {'closed' if self._closed else 'not open: call init first'}")
        with self._faults(), clock.outside():
            async with self._pool.acquire(timeout=self._timeout_ms / 1000) as connection:
                return list(await connection.fetch(sql, *values))

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[asyncpg.Connection]:
        """Several statements and one commit. Raises StoreError; when the line was lost, what they wrote may have been kept."""
        if self._pool is None:
            raise StoreError(f"{self.name} is {'closed' if self._closed else 'not open: call init first'}")
        with self._faults(), clock.outside():
            async with self._pool.acquire(timeout=self._timeout_ms / 1000) as connection, connection.transaction():
                yield connection

    async def notices(self, channel: str) -> AsyncIterator[str | None]:
        """What is sent on a channel, as it comes; None whenever the line is new and older notices may have been missed.

        Never ends by itself: a lost line is made again. Each notice is given once, however often it was sent meanwhile.
        """
        while True:
            try:
                with self._faults(), clock.outside():
                    line = await self._listen(channel)
            except StoreError as error:
                log.warning("other processes' events come late: %s", error)
                await asyncio.sleep(RETRY_MS / 1000)
                continue
            try:
                yield None
                while await line.more():
                    for notice in line.take():
                        yield notice
            finally:
                line.close()

    async def close(self) -> None:
        """Lets go of the connections after what was asked before; nothing can be asked afterwards."""
        self._closed = True
        pool, self._pool = self._pool, None
        if pool is not None:
            with contextlib.suppress(TimeoutError), self._faults(), clock.outside():
                async with asyncio.timeout((self._timeout_ms + _MARGIN_MS) / 1000):
                    await pool.close()

    async def _connect(self) -> asyncpg.Pool:
        return await asyncpg.create_pool(
            self._dsn,
            min_size=0,
            max_size=self._most,
            timeout=self._timeout_ms / 1000,
            command_timeout=(self._timeout_ms + _MARGIN_MS) / 1000,
            max_inactive_connection_lifetime=0,
            reset=_as_it_is,
            server_settings=self._server_settings(),
        )

    async def _prepare(self, pool: asyncpg.Pool, statements: Sequence[str]) -> None:
        async with pool.acquire(timeout=self._timeout_ms / 1000) as connection, connection.transaction():
            encoding = await connection.fetchval("SHOW server_encoding")
            if encoding != "UTF8":
                raise StoreError(f"{self.name} is encoded in {encoding}: name a database that was created with ENCODING 'UTF8'")
            await connection.execute(f"SET LOCAL statement_timeout = {PREPARE_MS}")
            for statement in statements:
                await connection.execute(statement, timeout=PREPARE_MS / 1000)

    async def _listen(self, channel: str) -> "_Line":
        seconds = self._timeout_ms / 1000
        connection = await asyncpg.connect(
            self._dsn, timeout=seconds, command_timeout=seconds, server_settings=self._server_settings()
        )
        line = _Line(connection)
        try:
            await connection.add_listener(channel, line.heard)
        except BaseException:
            line.close()
            raise
        return line

    def _server_settings(self) -> dict[str, str]:
        return {
            "application_name": self.application,
            "default_transaction_isolation": "read committed",
            "statement_timeout": str(self._timeout_ms),
        }

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        """Whatever the server, the line or the client says, as a StoreError that names the database and the next step."""
        try:
            yield
        except asyncpg.ClientConfigurationError:
            raise self._unreadable() from None
        except _FAULTS as error:
            said = str(error) or type(error).__name__
            step = next((step for kinds, step in _NEXT_STEPS if isinstance(error, kinds)), "")
            raise StoreError(f"{self.name} failed: {said}" + (f" ({step})" if step else "")) from error
        except ValueError:
            raise self._unreadable() from None

    @staticmethod
    def _unreadable() -> StoreError:
        """What the client says of such an address is left out: it may hold a piece of the password."""
        return StoreError(
            "the address of the database cannot be read: write postgresql://USER:PASSWORD@HOST:PORT/NAME, and %-escapes where "
            "the password has signs of its own"
        )


class _Line:
    """The connection that listens, and what it has heard since it was last asked."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection
        self._heard: dict[str, None] = {}
        self._woken = asyncio.Event()
        connection.add_termination_listener(lambda _: self._woken.set())

    def heard(self, _connection: object, _pid: int, _channel: str, notice: str) -> None:
        """Keeps a notice until it is taken; the same one twice is kept once."""
        self._heard[notice] = None
        self._woken.set()

    async def more(self) -> bool:
        """Waits until something was heard; False when the line is gone."""
        while not self._heard and not self._connection.is_closed():
            self._woken.clear()
            try:
                async with asyncio.timeout(SILENCE_MS / 1000):
                    await self._woken.wait()
            except TimeoutError:
                if not await self._alive():
                    return False
        return not self._connection.is_closed()

    async def _alive(self) -> bool:
        try:
            with clock.outside():
                await self._connection.execute("SELECT 1")
        except _FAULTS:
            return False
        return True

    def take(self) -> tuple[str, ...]:
        """What was heard, in order, once."""
        heard, self._heard = self._heard, {}
        return tuple(heard)

    def close(self) -> None:
        """Lets go of the connection at once."""
        self._connection.terminate()


async def _as_it_is(_connection: asyncpg.Connection) -> None:
    """Single statements leave nothing on a connection, so that giving it back costs no round trip."""


def _named(dsn: str) -> str:
    """A database's name for messages: its host and its name, neither user nor password."""
    try:
        parts = urlsplit(dsn)
        if "@" in parts.path:
            return "the database"  # what stands before may be the end of a password that should have been escaped
        return f"the database {parts.path.lstrip('/') or '(default)'} at {parts.hostname or 'the local server'}"
    except ValueError:
        return "the database"
