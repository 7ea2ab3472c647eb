"""Who may come in: tokens, hosts, origins, rates, and settings that would leave the door open."""

import pytest
from pydantic import SecretStr, ValidationError

from voiceagent.web.auth import EVERY_ROOM, check_host, check_origin, check_reach, check_room_access, issue, room_of
from voiceagent.web.limits import CLIENTS, Rate
from voiceagent.web.refusal import Refused
from voiceagent.web.settings import WebSettings
from voiceagent.web.standing import Standing

SECRET = "s" * 40
NOW = 1_800_000_000
OPEN = WebSettings()
CLOSED = WebSettings(token_secret=SecretStr(SECRET))


def _status(token: str | None, room: str = "lobby", now: int = NOW) -> int:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    try:
        check_room_access(CLOSED, headers, room, now)
    except Refused as refused:
        return refused.status
    return 200


def test_a_room_token_opens_its_room_until_it_expires() -> None:
    token = issue(SECRET, "lobby", NOW + 60)
    assert _status(token) == 200
    assert _status(token, now=NOW + 60) == 401
    assert _status(token, room="other") == 403


def test_only_a_host_s_token_makes_a_host() -> None:
    def is_host(token: str) -> bool:
        return check_room_access(CLOSED, {"authorization": f"Bearer {token}"}, "lobby", NOW).host

    assert is_host(issue(SECRET, "lobby", NOW + 60, host=True))
    assert not is_host(issue(SECRET, "lobby", NOW + 60))
    with pytest.raises(Refused):
        is_host(issue(SECRET, "other", NOW + 60, host=True))


def test_a_host_s_token_for_every_room_opens_each_and_looks_over_all() -> None:
    def reach(token: str) -> tuple[str | None, Standing]:
        return check_reach(CLOSED, {"authorization": f"Bearer {token}"}, NOW)

    every = issue(SECRET, EVERY_ROOM, NOW + 60, host=True)
    assert [_status(every, room) for room in ("lobby", "other")] == [200, 200]
    assert _status(every, now=NOW + 60) == 401
    assert reach(every) == (None, Standing(host=True, until=NOW + 60))
    assert reach(issue(SECRET, "lobby", NOW + 60)) == ("lobby", Standing(host=False, until=NOW + 60))
    assert reach(issue(SECRET, "lobby", NOW + 60, host=True)) == ("lobby", Standing(host=True, until=NOW + 60))
    assert check_reach(OPEN, {}, NOW) == (None, Standing(host=True))
    guest = issue(SECRET, EVERY_ROOM, NOW + 60)
    assert _status(guest) == 401
    with pytest.raises(Refused):
        reach(guest)
    assert room_of(CLOSED, {"authorization": f"Bearer {every}"}) is None


def test_without_a_secret_whoever_comes_is_on_this_machine_and_its_host() -> None:
    assert check_room_access(OPEN, {}, "lobby", NOW) == Standing(host=True)


def test_a_token_s_holder_may_stay_until_it_expires() -> None:
    token = issue(SECRET, "lobby", NOW + 60)
    assert check_room_access(CLOSED, {"authorization": f"Bearer {token}"}, "lobby", NOW) == Standing(host=False, until=NOW + 60)


@pytest.mark.parametrize("host", ["", "[", "[::", "]", "[x]:1"])
def test_a_host_that_cannot_be_read_is_refused(host: str) -> None:
    with pytest.raises(Refused) as refused:
        check_host(OPEN, host)
    assert refused.value.status == 421


def test_no_token_or_a_forged_one_opens_nothing() -> None:
    assert _status(None) == 401
    assert _status("rubbish") == 401
    assert _status(issue("t" * 40, "lobby", NOW + 60)) == 401
    unsigned = "eyJhbGciOiJub25lIn0.eyJyb29tIjoibG9iYnkiLCJhdWQiOiJ2b2ljZWFnZW50LXJvb20iLCJleHAiOjE5MDAwMDAwMDB9."
    assert _status(unsigned) == 401


def test_loopback_needs_no_token() -> None:
    check_room_access(OPEN, {}, "lobby", NOW)


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "localhost"])
def test_own_hosts(host: str) -> None:
    check_host(OPEN, host)


@pytest.mark.parametrize("host", ["evil.example:8080", "", "127.0.0.1.evil.example", "10.0.0.7"])
def test_a_foreign_host_is_refused(host: str) -> None:
    with pytest.raises(Refused) as refused:
        check_host(OPEN, host)
    assert refused.value.status == 421


def _origin(**headers: str) -> bool:
    try:
        check_origin(OPEN, {"host": "localhost:8080", **{k.replace("_", "-"): v for k, v in headers.items()}}, "http")
    except Refused:
        return False
    return True


def test_origins() -> None:
    assert _origin(origin="http://localhost:8080")
    assert _origin()
    assert _origin(sec_fetch_site="same-origin")
    assert not _origin(origin="http://evil.example")
    assert not _origin(origin="https://localhost:8080")
    assert not _origin(origin="http://localhost:9999")
    assert not _origin(origin="null")
    assert not _origin(sec_fetch_site="cross-site")


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"host": "0.0.0.0"}, "token_secret"),
        ({"host": "0.0.0.0", "token_secret": SECRET}, "tls_cert"),
        ({"host": "0.0.0.0", "token_secret": "short"}, "32"),
        ({"trusted_proxy": ("127.0.0.1",)}, "token_secret"),
        ({"tls_cert": "c.pem"}, "tls_key"),
        ({"allowed_origins": ("talk.example.org",)}, "origin"),
        ({"hosst": "x"}, "hosst"),
    ],
)
def test_an_open_door_is_refused_at_the_start(given: dict[str, object], word: str) -> None:
    with pytest.raises(ValidationError, match=word):
        WebSettings.model_validate(given)


def test_a_guarded_door_may_be_reached_from_outside() -> None:
    WebSettings.model_validate({"host": "0.0.0.0", "token_secret": SECRET, "trusted_proxy": ["10.0.0.1"]})
    WebSettings.model_validate({"host": "::", "token_secret": SECRET, "tls_cert": "c.pem", "tls_key": "k.pem"})


def test_the_secret_is_not_printed() -> None:
    assert SECRET not in repr(CLOSED)


def test_a_client_has_so_many_a_minute() -> None:
    rate = Rate(60)
    for _ in range(60):
        rate.spend("a", 0)
    with pytest.raises(Refused) as refused:
        rate.spend("a", 999)
    assert refused.value.status == 429
    rate.spend("a", 1000)
    rate.spend("b", 1000)


def test_many_clients_do_not_grow_the_table() -> None:
    rate = Rate(1)
    for client in range(CLIENTS + 10):
        rate.spend(str(client), 0)
    assert len(rate._left) == CLIENTS
