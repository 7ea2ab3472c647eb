"""By what way an input reaches an agent's answers, as a table."""

import pytest

from voiceagent.agent.routes import Arrival, Running, Way, way_of

SAYS = Arrival()
SPOKEN = Arrival(spoken=True)
MURMUR = Arrival(spoken=True, replaces=False)
STEERS = Arrival(steers=True)

MINE = Running(same_person=True)
HEARD = Running(same_person=True, heard=True)
TOOL = Running(same_person=True, boundary=True)
TOOL_HEARD = Running(same_person=True, boundary=True, heard=True)
LIVE = Running(same_person=True, native=True)
MADE = Running(same_person=True, open=False)
GONE = Running(same_person=True, open=False, heard=True)
OTHERS = Running(same_person=False)
OTHERS_TOOL = Running(same_person=False, boundary=True)
OTHERS_MADE = Running(same_person=False, open=False)


@pytest.mark.parametrize(
    ("arrival", "running", "way"),
    [
        pytest.param(Arrival(speaks=False), [TOOL], Way("none"), id="nobody speaks"),
        pytest.param(SAYS, [], Way("new_turn"), id="nothing runs"),
        pytest.param(SPOKEN, [GONE], Way("new_turn"), id="what ran was heard to its end"),
        pytest.param(SAYS, [TOOL], Way("request_boundary", 0), id="a tool runs"),
        pytest.param(SPOKEN, [TOOL_HEARD], Way("request_boundary", 0), id="a tool runs, a preamble was heard"),
        pytest.param(MURMUR, [TOOL], Way("request_boundary", 0), id="a murmur while a tool runs"),
        pytest.param(SAYS, [TOOL, TOOL], Way("request_boundary", 1), id="the newest is joined"),
        pytest.param(SAYS, [TOOL, GONE], Way("request_boundary", 0), id="the newest that is open is joined"),
        pytest.param(SAYS, [TOOL, MINE], Way("parallel"), id="only the newest is joined"),
        pytest.param(SAYS, [OTHERS_TOOL], Way("parallel"), id="another's tool runs"),
        pytest.param(SPOKEN, [OTHERS], Way("parallel"), id="another is being answered"),
        pytest.param(SPOKEN, [OTHERS_MADE], Way("new_turn"), id="another's answer waits to sound"),
        pytest.param(SAYS, [MINE], Way("parallel"), id="nothing sounds here, side by side"),
        pytest.param(SPOKEN, [MINE], Way("new_turn", instead=(0,)), id="nothing was heard"),
        pytest.param(SPOKEN, [MADE], Way("new_turn", instead=(0,)), id="made, and nothing was heard"),
        pytest.param(SPOKEN, [MADE, MINE], Way("new_turn", instead=(0, 1)), id="all that nobody heard"),
        pytest.param(SPOKEN, [MINE, OTHERS], Way("parallel", instead=(0,)), id="one's own makes way, another's stays"),
        pytest.param(SPOKEN, [HEARD], Way("parallel"), id="heard and not cut"),
        pytest.param(SPOKEN, [HEARD, MADE], Way("parallel", instead=(1,)), id="what is heard stays, what waits goes"),
        pytest.param(MURMUR, [MINE], Way("parallel"), id="a murmur replaces nothing"),
        pytest.param(STEERS, [MINE], Way("request_boundary", 0), id="a correction joins whatever runs"),
        pytest.param(Arrival(spoken=True, steers=True), [HEARD], Way("request_boundary", 0), id="a correction of what is heard"),
        pytest.param(STEERS, [GONE], Way("new_turn"), id="a correction of nothing"),
        pytest.param(SPOKEN, [LIVE], Way("native", 0), id="the running request takes input"),
        pytest.param(Arrival(plain=False), [LIVE], Way("parallel"), id="an attachment does not go live"),
        pytest.param(Arrival(spoken=True, plain=False), [LIVE], Way("new_turn", instead=(0,)), id="an attachment replaces"),
    ],
)
def test_the_way_of_an_input(arrival: Arrival, running: list[Running], way: Way) -> None:
    assert way_of(arrival, running) == way
