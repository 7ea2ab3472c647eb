"""Which microphone or loudspeaker is meant, and what is said when there is none such."""

import pytest

try:
    from voiceagent.transport.speaker import devices
except (ImportError, OSError) as error:
    pytest.skip(f"no sound devices: {error}", allow_module_level=True)

from voiceagent.errors import TransportError
from voiceagent.transport.speaker.devices import Device, find

THERE = [
    Device("Built-in", "input", 48_000, 2, True),
    Device("USB Microphone", "input", 44_100, 1, False),
    Device("USB Speaker", "output", 48_000, 2, True),
]


def test_a_device_is_found_by_a_part_of_its_name_or_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "devices", lambda: THERE)
    assert find("input", "usb").name == "USB Microphone"
    assert find("output", "usb").name == "USB Speaker"
    assert find("input", None).name == "Built-in"


@pytest.mark.parametrize(
    ("there", "name", "told"),
    [
        (THERE, "headset", "no loudspeaker called 'headset'; there are: 'USB Speaker' (voiceagent speaker --list-devices)"),
        (THERE[:2], None, "this machine has no loudspeaker that can be reached: plug one in, or start its sound server"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(
    monkeypatch: pytest.MonkeyPatch, there: list[Device], name: str | None, told: str
) -> None:
    monkeypatch.setattr(devices, "devices", lambda: there)
    with pytest.raises(TransportError) as refused:
        find("output", name)
    assert told in str(refused.value)
