"""Codes for pairing and the addresses that keys may be sent to."""

import re

import pytest

from voiceagent.room.pairings.pairing import Level
from voiceagent.web.pairing.address import checked
from voiceagent.web.pairing.codes import LETTERS, MOST, Codes

GOOD_MS = 600_000


def test_a_code_is_read_aloud_in_groups_and_taken_however_it_is_typed() -> None:
    codes = Codes(GOOD_MS)
    levels: tuple[Level, ...] = ("read", "prompt")
    for level in levels:
        code = codes.issue(level, 0)
        assert re.fullmatch(rf"[{LETTERS}]{{4}}(-[{LETTERS}]{{4}}){{2}}", code)
        assert codes.take(f" {code.lower().replace('-', ' ')} ", 1) == level


def test_a_code_is_good_once_and_until_its_time() -> None:
    codes = Codes(GOOD_MS)
    first, second, third = (codes.issue("read", 0) for _ in range(3))
    assert codes.take(first, 0) == "read"
    assert codes.take(first, 0) is None
    assert codes.take(second, GOOD_MS - 1) == "read"
    assert codes.take(third, GOOD_MS) is None


def test_the_oldest_code_is_given_up_for_one_too_many() -> None:
    codes = Codes(GOOD_MS)
    made = [codes.issue("read", 0) for _ in range(MOST + 1)]
    assert codes.take(made[0], 0) is None
    assert [codes.take(code, 0) for code in made[1:]] == ["read"] * MOST


@pytest.mark.parametrize("code", ["", "-", "AAAA-AAAA-AAAA", "A" * 10_000, "\N{SNOWMAN}"])
def test_what_is_no_code_is_not_taken(code: str) -> None:
    codes = Codes(GOOD_MS)
    codes.issue("read", 0)
    assert codes.take(code, 0) is None


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("https://talk.example.org/", "https://talk.example.org"),
        (" https://talk.example.org:8443/voice ", "https://talk.example.org:8443/voice"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://localhost:1/", "http://localhost:1"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_an_address_is_kept_without_its_last_slash(address: str, kept: str) -> None:
    assert checked(address) == kept


@pytest.mark.parametrize(
    "address",
    [
        "",
        "talk.example.org",
        "http://talk.example.org",
        "ftp://talk.example.org",
        "https://",
        "https://me:secret@talk.example.org",
        "https://talk.example.org?a=b",
        "https://talk.example.org#a",
        "https://talk.example.org:99999",
        "https://talk.example.org/a b",
        "https://t\N{CYRILLIC SMALL LETTER A}lk.example.org",
        "https://[::1",
        f"https://{'a' * 500}.org",
    ],
)
def test_no_key_is_sent_to_what_is_no_safe_address(address: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        checked(address)
