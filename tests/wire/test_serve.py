"""`voiceagent serve` as a process: it says where it is, answers, and closes in good order when told to."""

import contextlib
import http.client
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytestmark = pytest.mark.usefixtures("default_models")

SETTINGS = '[llm]\nbrain = "echo"\n[web]\nport = 0\n'
LONGEST_S = 60


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and host:port once it has said that it is ready."""
    settings = folder / "my.toml"
    settings.write_text(SETTINGS)
    command = [sys.executable, "-c", "from voiceagent.cli.main import main; main()", "serve", "--config", str(settings)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            assert process.stdout is not None
            said = ""
            for line in process.stdout:
                said += line
                if found := re.search(r"http://\S+/", line):
                    yield process, urlsplit(found[0]).netloc
                    return
            pytest.fail(f"it never was ready: {said}")
        finally:
            process.kill()


def get(place: str, path: str) -> int:
    connection = http.client.HTTPConnection(place, timeout=LONGEST_S)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_stop_and_then_ends_by_itself(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path) as (process, place):
        assert get(place, "/healthz") == 200
        assert get(place, "/") == 200
        process.send_signal(number)
        rest, _ = process.communicate(timeout=LONGEST_S)
        assert process.returncode == 0, rest
        assert rest == "Closed.\n"


def test_an_open_stream_does_not_keep_it_from_closing(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, place):
        host, _, port = place.partition(":")
        with socket.create_connection((host, int(port)), timeout=LONGEST_S) as stream:
            stream.sendall(f"GET /v1/rooms/hall/events HTTP/1.1\r\nHost: {place}\r\nAccept: text/event-stream\r\n\r\n".encode())
            assert stream.recv(12) == b"HTTP/1.1 200"
            process.send_signal(signal.SIGTERM)
            rest, _ = process.communicate(timeout=LONGEST_S)
        assert process.returncode == 0, rest
