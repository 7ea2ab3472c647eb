"""A throw-away Postgres server on a socket of its own, run by nobody special, that may be killed."""

import os
import select
import shutil
import signal
import subprocess
import tempfile
from itertools import count
from pathlib import Path

import asyncpg

_PORT = 54329


def binaries() -> Path | None:
    """The folder of Debian's newest server, None when it is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return found[-1].parent if found else None


class Cluster:
    """One server and its files; a process that is root hands both to the user `postgres`, for the server refuses root."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self._as: list[str] = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        self.folder = Path(tempfile.mkdtemp(prefix="voiceagent-pg-"))
        if self._as:
            shutil.chown(self.folder, "postgres")
        self._data = self.folder / "data"
        self._numbers = count()
        self._run("initdb", "-D", str(self._data), "-A", "trust", "-U", "voice", "-E", "UTF8", "--no-locale", "--no-sync")
        self.start()

    def dsn(self, database: str = "postgres", **settings: str) -> str:
        """An address of the server, with settings of the session."""
        more = "".join(f"&{name}={value}" for name, value in settings.items())
        return f"postgresql://voice@/{database}?host={self.folder}&port={_PORT}{more}"

    async def fresh(self) -> str:
        """The address of an empty schema, as good as a database of its own."""
        name = f"rooms_{next(self._numbers)}"
        await self.ask(self.dsn(), f"CREATE SCHEMA {name}")
        return self.dsn(search_path=name)

    @staticmethod
    async def ask(dsn: str, *statements: str) -> list[tuple[object, ...]]:
        """Runs statements on a connection of its own; the rows of the last one."""
        connection = await asyncpg.connect(dsn)
        try:
            rows = [await connection.fetch(statement) for statement in statements]
            return [tuple(row) for row in rows[-1]]
        finally:
            await connection.close()

    def start(self) -> None:
        """Starts the server, and returns once it takes connections."""
        options = f"-k {self.folder} -p {_PORT} -c listen_addresses='' -c max_connections=60"
        self._run("pg_ctl", "-D", str(self._data), "-o", options, "-l", str(self.folder / "log"), "-w", "-t", "60", "start")

    def stop(self) -> None:
        """Stops the server, whoever is connected."""
        self._run("pg_ctl", "-D", str(self._data), "-m", "fast", "-w", "-t", "60", "stop")

    def kill(self) -> None:
        """Kills the server and every process of it at once, and returns when they are gone."""
        pid = int((self._data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ends = []
        for one in [pid, *map(int, children)]:
            try:
                ends.append(os.pidfd_open(one))
                os.kill(one, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for end in ends:
            select.select([end], [], [])
            os.close(end)
        # They are dead, but their parent may not have heard of it yet, and the next server would take this one for alive.
        (self._data / "postmaster.pid").unlink()
        (self.folder / f".s.PGSQL.{_PORT}.lock").unlink()

    def remove(self) -> None:
        """Stops the server and deletes its files."""
        if (self._data / "postmaster.pid").exists():
            self._run("pg_ctl", "-D", str(self._data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.folder)

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as, str(self._programs / program), *arguments]
        # Its words go to a file: a server keeps the pipe of whoever started it open.
        with tempfile.TemporaryFile() as words:
            done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=words, stderr=words, cwd="/", timeout=90)
            words.seek(0)
            assert done.returncode == 0, f"{program}: {words.read().decode()}"
