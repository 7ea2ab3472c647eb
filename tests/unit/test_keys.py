"""Invitations: a link with a token that the server takes, for one room and for so long."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from voiceagent import clock
from voiceagent.cli.main import app
from voiceagent.web.auth import check_figures_access, check_token
from voiceagent.web.push.settings import PushSettings
from voiceagent.web.refusal import Refused
from voiceagent.web.settings import WebSettings

SECRET = "s" * 32


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "web.toml"
    path.write_text(f'[web]\ntoken_secret = "{SECRET}"\n', encoding="utf-8")
    return path


def test_the_link_opens_its_room_until_it_expires(settings: Path) -> None:
    told = CliRunner().invoke(
        app, ["keys", "den", "--hours", "2", "--address", "https://talk.example.org/", "--config", str(settings)]
    )
    assert told.exit_code == 0
    link = urlsplit(told.output.strip())
    token = parse_qs(link.fragment)["token"][0]
    assert (link.scheme, link.netloc, parse_qs(link.query)) == ("https", "talk.example.org", {"room": ["den"]})
    now = int(clock.utc().timestamp())
    assert check_token(token, SECRET, "den", now + 7_190).host is False
    for room, at in (("other", now), ("den", now + 7_210)):
        with pytest.raises(Refused):
            check_token(token, SECRET, room, at)


def test_a_hosts_link_shows_more(settings: Path) -> None:
    told = CliRunner().invoke(app, ["keys", "den", "--host", "--config", str(settings)])
    token = told.output.strip().rpartition("token=")[2]
    assert check_token(token, SECRET, "den", int(clock.utc().timestamp())).host


def test_a_hosts_link_without_a_room_opens_every_one(settings: Path) -> None:
    told = CliRunner().invoke(app, ["keys", "--host", "--config", str(settings)])
    link, _, token = told.output.strip().partition("#token=")
    assert link == "http://127.0.0.1:8080/"
    assert check_token(token, SECRET, "anywhere", int(clock.utc().timestamp())).host


def test_a_key_for_push_is_one_that_the_settings_take_and_a_new_one_each_time() -> None:
    keys = [CliRunner().invoke(app, ["keys", "--push"]).output.strip() for _ in range(2)]
    assert keys[0] != keys[1]
    for key in keys:
        PushSettings.model_validate({"key": key, "subject": "mailto:ops@example.org"})
    for bad in ({"key": keys[0]}, {"key": keys[0][:-3], "subject": "mailto:a@b"}, {"key": "rubbish!", "subject": "mailto:a@b"}):
        with pytest.raises(ValidationError):
            PushSettings.model_validate(bad)


def test_without_a_secret_or_a_room_it_says_what_to_set(settings: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.toml"
    bare.write_text("", encoding="utf-8")
    assert CliRunner().invoke(app, ["keys", "den", "--config", str(bare)]).exit_code == 2
    assert CliRunner().invoke(app, ["keys", "../den", "--config", str(settings)]).exit_code == 2
    assert CliRunner().invoke(app, ["keys", "--config", str(settings)]).exit_code == 2


def test_a_token_for_figures_opens_no_room_and_expires(settings: Path) -> None:
    told = CliRunner().invoke(app, ["keys", "--metrics", "--hours", "1", "--config", str(settings)])
    token, now = told.output.strip(), int(clock.utc().timestamp())
    web, headers = WebSettings.model_validate({"token_secret": SECRET}), {"authorization": f"Bearer {token}"}
    check_figures_access(web, headers, now)
    with pytest.raises(Refused):
        check_figures_access(web, headers, now + 3_700)
    with pytest.raises(Refused):
        check_token(token, SECRET, "den", now)
