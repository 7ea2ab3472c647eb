"""What a command has loaded is not looked through again for garbage while it serves."""

import gc

import pytest

from voiceagent.cli.garbage import settled


class _Ring:
    """Refers to itself, so that only the collector of garbage ends it."""

    def __init__(self) -> None:
        self.ring = self


def test_what_is_there_is_not_looked_through_while_it_serves() -> None:
    kept = _Ring()
    with settled():
        assert gc.get_freeze_count() > 1_000
        assert not any(one is kept for one in gc.get_objects())
    assert gc.get_freeze_count() == 0
    assert any(one is kept for one in gc.get_objects())


def test_what_comes_later_is_collected() -> None:
    with settled():
        gc.collect()
        _Ring()
        assert gc.collect() >= 1


def test_a_command_that_fails_lets_go_of_it() -> None:
    with pytest.raises(OSError, match="the disk is full"), settled():
        raise OSError("the disk is full")
    assert gc.get_freeze_count() == 0
