"""The HTTP door against its own description, by requests that nobody thought of."""

import asyncio
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from tests.wire.door import door
from voiceagent.web.settings import WebSettings

EXAMPLES = 15
OFTEN = WebSettings(requests_per_minute=1_000_000, offers_per_minute=1_000_000, messages_per_minute=1_000_000)
REFUSALS = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, "5xx"]
"""What counts as a refusal: the library's own list, and 413 for a body beyond the limit, whatever is in it."""
REFUSES = SchemathesisConfig.from_dict({"checks": {"negative_data_rejection": {"expected-statuses": REFUSALS}}})
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


OF_ROOMS = ["offer", "candidate", "mute", "leave", "message", "command"]
OF_THE_INBOX = ["inbox", "inbox_command", "overview", "push_key", "notify", "notify_no_more"]


def _try(url: str, name: str, mode: GenerationMode) -> None:
    """Sends an operation some requests that fit its description, or some that do not."""
    schema = schemathesis.openapi.from_url(f"{url}v1/openapi.json", config=REFUSES)
    (found,) = schema.include(operation_id=name).get_all_operations()
    assert isinstance(found, Ok)
    checks = CHECKS if mode is GenerationMode.POSITIVE else [*CHECKS, negative_data_rejection]

    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(case=found.ok().as_strategy(generation_mode=mode))
    def ask(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(base_url=url, checks=checks)

    ask()


async def _stands(name: str, mode: GenerationMode) -> None:
    async with door(OFTEN) as (url, _, _), httpx.AsyncClient(base_url=url) as client:
        await asyncio.to_thread(_try, url, name, mode)
        assert (await client.get("healthz")).json() == {"ok": True}


@pytest.mark.parametrize("name", ["health", "status", *OF_ROOMS, *OF_THE_INBOX])
async def test_what_fits_the_description_is_answered_as_it_says(name: str) -> None:
    await _stands(name, GenerationMode.POSITIVE)


@pytest.mark.parametrize("name", [*OF_ROOMS, "inbox_command", "notify", "notify_no_more"])
async def test_what_does_not_fit_is_refused_and_never_an_error(name: str) -> None:
    await _stands(name, GenerationMode.NEGATIVE)
