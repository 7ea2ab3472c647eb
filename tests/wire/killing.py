"""Processes that are forked to be killed: the side that kills them, and their own, which says on a pipe what it has done.

The program is started once and forks a process for each line "FILE<TAB>PIPE" on its standard input, so that a kill costs no start
of Python. The process's id is the answer.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]


class Killer:
    """Starts a program of this folder, and kills what it forks."""

    def __init__(self, program: str, folder: Path) -> None:
        self._folder = folder
        self._number = 0
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name(program))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
        )

    def killed_after(self, file: Path, count: int) -> list[list[str]]:
        """Kills a process once it has said `count` bytes; the words of every whole line that it had said by then."""
        assert self._process.stdin
        assert self._process.stdout
        self._number += 1
        pipe = self._folder / f"pipe-{self._number}"
        os.mkfifo(pipe)
        self._process.stdin.write(f"{file}\t{pipe}\n")
        self._process.stdin.flush()
        child = int(self._process.stdout.readline())
        with pipe.open("rb", buffering=0) as stream:
            heard = b""
            while len(heard) < count and (piece := stream.read(count - len(heard))):
                heard += piece
            assert len(heard) == count, "it died by itself"
            os.kill(child, signal.SIGKILL)
            while piece := stream.read(65536):
                heard += piece
        return [line.split() for line in heard.decode().split("\n")[:-1]]

    def close(self) -> None:
        """Ends the program."""
        self._process.communicate(timeout=10)
        assert self._process.returncode == 0


def serve(live: Callable[[Path, int], Coroutine[object, object, None]]) -> None:
    """The program's side: forks a process that lives on a file and a pipe, for each line until the standard input ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        file, pipe = line.rstrip("\n").split("\t")
        child = os.fork()
        if child == 0:
            asyncio.run(live(Path(file), os.open(pipe, os.O_WRONLY)))
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
