"""Samples between a device's thread and the loop: in order, bounded, none lost without being counted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.transport.speaker.ring import Ring

STEPS = st.lists(st.tuples(st.sampled_from(["write", "read"]), st.integers(0, 40)), max_size=40)


@given(st.integers(1, 30), STEPS)
def test_what_comes_out_is_what_went_in_less_the_oldest_that_were_counted_as_lost(
    capacity: int, steps: list[tuple[str, int]]
) -> None:
    ring, model, number = Ring(capacity), list[int](), 0
    for what, count in steps:
        if what == "write":
            new = list(range(number, number + count))
            number += count
            lost = max(0, len(model) + count - capacity)
            model = (model + new)[lost:]
            assert ring.write(np.array(new, dtype=np.int16)) == lost
        else:
            assert ring.read(count).tolist() == model[:count]
            model = model[count:]
        assert len(ring) == len(model)
    assert ring.clear() == len(model)
    assert ring.read(5).size == 0


def test_a_ring_holds_something() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Ring(0)
