"""Commands as JSON: what is one, what is told of what is none, and how two are known to be the same."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voiceagent.web.command import Ack, Submit, digest, parse, parsed
from voiceagent.web.refusal import Refused

NUMBER = st.none() | st.booleans() | st.floats() | st.integers() | st.text()
ANYTHING = st.recursive(
    NUMBER, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
NEARLY = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["input.submit", "input.withdraw", "generation.steer", "generation.cancel", "job.cancel", "message.read"]
        )
        | ANYTHING,
        "id": st.just("00000001") | ANYTHING,
        "data": st.fixed_dictionaries({}, optional={"text": ANYTHING, "generation_id": ANYTHING, "job_id": ANYTHING}) | ANYTHING,
    }
)


def submit(text: str = "hi", id: str = "00000001") -> Submit:
    command = parse(json.dumps({"type": "input.submit", "id": id, "data": {"text": text}}))
    assert isinstance(command, Submit)
    return command


@settings(deadline=None)
@given(NEARLY | ANYTHING)
def test_whatever_comes_is_a_command_or_an_acknowledgement_that_says_why_not(value: object) -> None:
    command = parse(json.dumps(value))
    if isinstance(command, Ack):
        assert (command.accepted, command.disposition) == (False, "refused")
        assert command.error is not None
        assert 0 < len(command.error.message) < 300
        assert json.loads(json.dumps(command.as_json()))["id"] == command.id


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_bytes_that_are_no_json_are_told_so(value: bytes) -> None:
    assert parse(value) is not None


def test_an_acknowledgement_names_the_id_that_can_be_read() -> None:
    assert parse('{"id": "abc", "type": "no"}').id == "abc"
    assert parse('{"id": "' + "x" * 65 + '", "type": "no"}').id is None
    assert parse("[]").id is None


def test_nothing_of_what_was_sent_comes_back_in_an_error() -> None:
    ack = parse('{"id": "00000001", "type": "input.submit", "data": {"text": ["<script>"]}}')
    assert isinstance(ack, Ack)
    assert "script" not in json.dumps(ack.as_json())


def test_the_same_content_has_the_same_digest_and_other_content_another() -> None:
    assert digest(submit("hi")) == digest(submit("hi", id="00000002"))
    assert digest(submit("hi")) != digest(submit("ho"))
    cancel = parse('{"type": "generation.cancel", "id": "00000001", "data": {"generation_id": "hi"}}')
    job = parse('{"type": "job.cancel", "id": "00000001", "data": {"job_id": "hi"}}')
    assert not isinstance(cancel, Ack)
    assert not isinstance(job, Ack)
    assert digest(cancel) != digest(job)


@pytest.mark.parametrize("text", [b"{", b"{}", b'{"type":"x","id":"00000001","data":{}}'])
def test_over_http_what_is_no_command_is_refused(text: bytes) -> None:
    with pytest.raises(Refused) as refused:
        parsed(text)
    assert refused.value.status == 400
