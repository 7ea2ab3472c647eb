"""The grammar of visibility, and what narrowing may never do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voiceagent.errors import RoomError
from voiceagent.room.events import ChannelType
from voiceagent.room.visibility import KEYWORDS, check_channel_id, narrow, normal, reaches

TYPES = {
    "web": ChannelType.TEXT,
    "phone": ChannelType.VOICE,
    "video": ChannelType.AUDIO_VIDEO,
    "nova": ChannelType.AI,
    "critic": ChannelType.AI,
}
NAMES = sorted(TYPES)

visibilities = st.one_of(
    st.sampled_from(sorted(KEYWORDS)),
    st.sets(st.sampled_from([*NAMES, "gone"]), min_size=1).map(lambda names: ",".join(sorted(names))),
)


def reached(visibility: str) -> set[str]:
    return {name for name, kind in TYPES.items() if reaches(visibility, name, kind)}


@pytest.mark.parametrize(
    ("visibility", "who"),
    [
        ("all", {"web", "phone", "video", "nova", "critic"}),
        ("none", set()),
        ("internal", set()),
        ("transport", {"web", "phone", "video"}),
        ("intelligence", {"nova", "critic"}),
        ("web", {"web"}),
        ("nova,web", {"nova", "web"}),
        ("we", set()),
        ("gone", set()),
    ],
)
def test_who_is_reached(visibility: str, who: set[str]) -> None:
    assert reached(visibility) == who


@pytest.mark.parametrize(
    ("written", "spelled"),
    [("all", "all"), (" b , a,b", "a,b"), ("web", "web"), ("internal", "internal"), ("nova, web ", "nova,web")],
)
def test_one_spelling(written: str, spelled: str) -> None:
    assert normal(written) == spelled == normal(spelled)


@pytest.mark.parametrize("wrong", ["", " ", ",", "a,", "a,,b", "all,a", "a, none", "internal,internal"])
def test_what_is_no_visibility_is_refused(wrong: str) -> None:
    with pytest.raises(RoomError, match="visibility"):
        normal(wrong)


@pytest.mark.parametrize("name", [*sorted(KEYWORDS), "", "a,b", " a", "a\n"])
def test_a_channel_that_no_list_could_name_is_refused(name: str) -> None:
    with pytest.raises(RoomError, match="channel id"):
        check_channel_id(name)


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ("all", "web", "web"),
        ("all", "internal", "internal"),
        ("none", "internal", "internal"),
        ("none", "all", "none"),
        ("transport", "intelligence", "none"),
        ("transport", "transport", "transport"),
        ("intelligence", "nova,web", "nova"),
        ("transport", "nova,web", "web"),
        ("transport", "critic,nova", "none"),
        ("intelligence", "gone", "none"),
        ("nova,web", "critic,web", "web"),
        ("nova", "web", "none"),
    ],
)
def test_narrowing(first: str, second: str, both: str) -> None:
    assert narrow(first, second, TYPES) == narrow(second, first, TYPES) == both


@given(visibilities, visibilities)
def test_narrowing_takes_no_side_and_reaches_what_both_reach(first: str, second: str) -> None:
    both = narrow(first, second, TYPES)
    assert both == narrow(second, first, TYPES)
    assert reached(both) == reached(first) & reached(second)


@given(visibilities)
def test_narrowing_by_itself_changes_nothing(one: str) -> None:
    assert narrow(one, one, TYPES) == one
    assert narrow(one, "all", TYPES) == one


@given(visibilities, visibilities, visibilities)
def test_narrowing_may_be_done_in_any_order(first: str, second: str, third: str) -> None:
    left = narrow(narrow(first, second, TYPES), third, TYPES)
    right = narrow(first, narrow(second, third, TYPES), TYPES)
    assert left == right
    assert reached(left) == reached(first) & reached(second) & reached(third)


@given(visibilities, visibilities)
def test_what_narrowing_gives_is_a_visibility_in_its_one_spelling(first: str, second: str) -> None:
    both = narrow(first, second, TYPES)
    assert normal(both) == both
