"""A room made of PulseAudio's sinks: a loudspeaker that a microphone hears, people who play recordings, and the program."""

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from voiceagent.audio.frame import RATE, Samples
from voiceagent.weights import models_dir

MODULES: Final = """
load-module module-native-protocol-unix socket={socket} auth-anonymous=1
load-module module-null-sink sink_name=spk rate=48000 channels=1
load-module module-null-sink sink_name=people rate=48000 channels=1
load-module module-null-sink sink_name=room rate=48000 channels=1
load-module module-loopback source=spk.monitor sink=room latency_msec=20 source_dont_move=true sink_dont_move=true
load-module module-loopback source=people.monitor sink=room latency_msec=20 source_dont_move=true sink_dont_move=true
load-module module-remap-source master=room.monitor source_name=mic
set-default-sink spk
set-default-source mic
"""
SERVER: Final = ("-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=no", "--realtime=no")
READY_S: Final = 40
LOUD: Final = 300


class Tape:
    """What a sink plays, 16 kHz mono, with the moment at which each piece came."""

    def __init__(self) -> None:
        self._pieces: list[tuple[float, Samples]] = []
        self._came = asyncio.Event()

    async def run(self, source: asyncio.StreamReader) -> None:
        """Until the recorder ends."""
        while piece := await source.read(640):
            sound = np.frombuffer(piece[: len(piece) // 2 * 2], dtype=np.int16)
            self._pieces.append((asyncio.get_running_loop().time(), sound))
            self._came.set()

    async def sounds(self, since: float, seconds: float) -> None:
        """Returns once something has sounded for so long in all."""
        async with asyncio.timeout(READY_S):
            while len(self.loud(since)) * 0.02 < seconds:
                self._came.clear()
                await self._came.wait()

    def loud(self, since: float) -> list[float]:
        """The moments at which something sounded."""
        return [at for at, sound in self._pieces if at >= since and np.abs(sound.astype(int)).max(initial=0) > LOUD]


class Room:
    """The sound server, and the programs in it. All are ended with the room."""

    def __init__(self, folder: Path, environ: dict[str, str], stack: contextlib.AsyncExitStack) -> None:
        self.folder = folder
        self._environ = environ
        self._stack = stack
        self._said: list[str] = []
        self._server: asyncio.subprocess.Process | None = None
        self._more = asyncio.Condition()

    async def start(self, *command: str) -> asyncio.subprocess.Process:
        """A program that ends with the room."""
        process = await asyncio.create_subprocess_exec(
            *command, env=self._environ, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )

        async def end() -> None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            await process.communicate()

        self._stack.push_async_callback(end)
        return process

    async def open(self) -> None:
        """Starts the sound server; returns once it answers."""
        self._server = await self.start("pulseaudio", *SERVER, "-F", str(self.folder / "default.pa"))
        async with asyncio.timeout(READY_S):
            while await (await self.start("pactl", "info")).wait() != 0:
                assert self._server.returncode is None, (await self._server.communicate())[0].decode()

    async def close(self) -> None:
        """Kills the sound server."""
        assert self._server is not None
        self._server.kill()
        await self._server.communicate()

    async def tape(self, sink: str) -> Tape:
        """Records a sink."""
        recorder = await self.start(
            "parec", f"--device={sink}.monitor", "--format=s16le", f"--rate={RATE}", "--channels=1", "--latency-msec=20"
        )
        assert recorder.stdout is not None
        tape = Tape()
        self._keep(asyncio.create_task(tape.run(recorder.stdout)))
        return tape

    async def say(self, recording: Path) -> None:
        """Somebody plays a recording to its end."""
        assert await (await self.start("paplay", "--device=people", str(recording))).wait() == 0

    async def agent(self, *settings: str) -> None:
        """Starts the program with these lines of settings; returns once it listens."""
        file = self.folder / "speaker.toml"
        file.write_text("\n".join(settings))
        program = await self.start(sys.executable, "-m", "voiceagent", "speaker", "--config", str(file))
        assert program.stdout is not None
        self._keep(asyncio.create_task(self._listen(program.stdout)))
        await self.told("Listening.")

    async def check(self) -> str:
        """What `voiceagent speaker --test` prints."""
        program = await self.start(sys.executable, "-m", "voiceagent", "speaker", "--test")
        told = (await program.communicate())[0].decode()
        assert program.returncode == 0, told
        return told

    async def told(self, beginning: str, number: int = 1) -> str:
        """The so-manieth line that the program prints with this beginning, once it is there."""
        async with asyncio.timeout(READY_S), self._more:
            await self._more.wait_for(lambda: len(self.lines(beginning)) >= number)
        return self.lines(beginning)[number - 1]

    def lines(self, beginning: str) -> Sequence[str]:
        """What it has printed with this beginning."""
        return [line for line in self._said if line.startswith(beginning)]

    async def _listen(self, output: asyncio.StreamReader) -> None:
        while line := await output.readline():
            async with self._more:
                self._said.append(line.decode().rstrip())
                self._more.notify_all()

    def _keep(self, task: asyncio.Task[None]) -> None:
        async def end() -> None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        self._stack.push_async_callback(end)


@contextlib.asynccontextmanager
async def virtual_room(folder: Path) -> AsyncIterator[Room]:
    """A room of its own sound server, on a socket in the folder. Skips where a program or library for it is missing."""
    missing = [name for name in ("pulseaudio", "paplay", "parec", "pactl") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not here: apt-get install pulseaudio pulseaudio-utils libasound2-plugins")
    try:
        import sounddevice  # noqa: F401
    except (ImportError, OSError) as error:
        pytest.skip(f"no sound devices: {error} (pip install 'voiceagent[speaker]', apt-get install libportaudio2)")
    socket, script = folder / "pulse.sock", folder / "default.pa"
    script.write_text(MODULES.format(socket=socket))
    environ = {
        **os.environ,
        "XDG_RUNTIME_DIR": str(folder),
        "PULSE_SERVER": f"unix:{socket}",
        "VOICEAGENT_MODELS": str(models_dir()),
        "VOICEAGENT_JUDGMENT__POLICY": "always",
        "COLUMNS": "1000",
        "PYTHONUNBUFFERED": "1",
    }
    async with contextlib.AsyncExitStack() as stack:
        room = Room(folder, environ, stack)
        await room.open()
        yield room
