"""Webhooks without a loop: signatures against the convention's own package, waits by table, and who is told when."""

import base64
from datetime import UTC, datetime

import pytest
from pydantic import ValidationError
from standardwebhooks.webhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from voiceagent.web.webhooks.backlog import Backlog, backoff_ms
from voiceagent.web.webhooks.settings import Webhook, WebhookSettings
from voiceagent.web.webhooks.signature import Signer, delivery_id

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OTHER = "whsec_" + base64.b64encode(bytes(range(100, 132))).decode()
BODY = '{"type":"job.returned","text":"¿Qué?"}'.encode()


def now() -> int:
    """The calendar's second: the convention's package compares with it."""
    return int(datetime.now(UTC).timestamp())


def test_the_conventions_own_package_takes_a_signature() -> None:
    headers = Signer(SECRET).headers("lobby:7", now(), BODY)
    assert Verifier(SECRET).verify(BODY, headers)["type"] == "job.returned"
    assert headers["webhook-id"] == "lobby:7"


def test_of_two_secrets_either_is_good() -> None:
    headers = Signer(f"{OTHER} {SECRET}").headers("lobby:7", now(), BODY)
    for secret in (SECRET, OTHER):
        Verifier(secret).verify(BODY, headers)


@pytest.mark.parametrize(
    ("name", "changed"), [("webhook-id", "lobby:8"), ("webhook-timestamp", "1"), ("webhook-signature", "v1,AAAA")]
)
def test_a_header_that_was_changed_is_refused(name: str, changed: str) -> None:
    headers = Signer(SECRET).headers("lobby:7", now(), BODY)
    with pytest.raises(WebhookVerificationError):
        Verifier(SECRET).verify(BODY, {**headers, name: changed})


def test_a_body_that_was_changed_and_an_old_delivery_are_refused() -> None:
    with pytest.raises(WebhookVerificationError):
        Verifier(SECRET).verify(BODY + b" ", Signer(SECRET).headers("lobby:7", now(), BODY))
    with pytest.raises(WebhookVerificationError):
        Verifier(SECRET).verify(BODY, Signer(SECRET).headers("lobby:7", now() - 400, BODY))


@pytest.mark.parametrize("secret", ["", "plain", "whsec_!", "whsec_c2hvcnQ=", SECRET + " whsec_c2hvcnQ="])
def test_what_is_no_secret_is_refused_without_being_shown(secret: str) -> None:
    with pytest.raises(ValueError, match="secret") as caught:
        Signer(secret)
    assert "c2hvcnQ" not in str(caught.value)


@pytest.mark.parametrize(
    ("room", "number", "name"),
    [("lobby", 7, "lobby:7"), ("a.b c", 1, "a%2Eb%20c:1"), ("día\n", "gap-1-2", "d%C3%ADa%0A:gap-1-2")],
)
def test_a_delivery_is_named_by_room_and_number_in_letters_that_a_header_holds(room: str, number: int | str, name: str) -> None:
    assert delivery_id(room, number) == name


@pytest.mark.parametrize(
    ("failures", "least", "most"),
    [
        (1, 500, 1_000),
        (2, 1_000, 2_000),
        (3, 2_000, 4_000),
        (10, 256_000, 512_000),
        (11, 450_000, 900_000),
        (9_999, 450_000, 900_000),
    ],
)
def test_waits_double_up_to_a_bound_and_are_spread(failures: int, least: int, most: int) -> None:
    assert backoff_ms(failures, 900_000, 0.0) == least
    assert backoff_ms(failures, 900_000, 1.0) == most
    assert least < backoff_ms(failures, 900_000, 0.5) < most


def test_rooms_are_taken_in_the_order_in_which_they_are_due_each_by_one() -> None:
    backlog = Backlog()
    for now, room in ((0, "a"), (1, "b"), (2, "a")):
        backlog.wake(room, now)
    assert [backlog.take(5) for _ in range(3)] == ["a", "b", None]


def test_what_comes_while_a_room_is_told_of_is_told_afterwards() -> None:
    backlog = Backlog()
    backlog.wake("a", 0)
    assert backlog.take(0) == "a"
    backlog.wake("a", 1)
    assert backlog.take(1) is None
    backlog.done("a", 2)
    assert backlog.take(2) == "a"
    backlog.done("a", 3)
    assert (backlog.take(3), len(backlog)) == (None, 0)


def test_a_room_that_failed_waits_its_time_whatever_comes_meanwhile() -> None:
    backlog = Backlog()
    backlog.wake("a", 0)
    backlog.take(0)
    backlog.failed("a", 100)
    backlog.wake("a", 1)
    assert (backlog.take(99), backlog.next_at(), backlog.failures("a"), backlog.pressing) == (None, 100, 1, False)
    assert backlog.take(100) == "a"
    backlog.succeeded("a")
    assert (backlog.failures("a"), backlog.pressing) == (0, True)


@pytest.mark.parametrize(
    "changed",
    [
        {"url": "http://crm.example.org/x"},
        {"url": "ftp://127.0.0.1/x"},
        {"url": "https://user:word@crm.example.org"},
        {"url": "https://"},
        {"name": "No Name"},
        {"types": ["Speech!"]},
        {"secret": "whsec_x"},
    ],
)
def test_a_webhook_that_would_leak_or_cannot_work_is_refused(changed: dict[str, object]) -> None:
    good: dict[str, object] = {"name": "crm", "url": "https://crm.example.org/x", "secret_env": "CRM"}
    Webhook.model_validate(good)
    with pytest.raises(ValidationError):
        Webhook.model_validate(good | changed)


def test_two_webhooks_of_one_name_are_refused() -> None:
    hook = Webhook(name="crm", url="http://localhost:1/x", secret_env="CRM")
    with pytest.raises(ValidationError, match="same name"):
        WebhookSettings(hooks=(hook, hook))
