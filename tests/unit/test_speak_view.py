"""What the classifier sees: fixed names in place of all names, speakers by role, and the state around the turn."""

from tests.unit.speaking import said, state
from voiceagent.judgment.classifier.view import view


def test_names_are_replaced_by_fixed_ones() -> None:
    seen = view(state("Petra", "Juno, tell Gus that Milly's late", people=["Petra", "Gus", "Milly"], agent="Juno"))
    assert seen.last.who == "alice"
    assert seen.last.text.startswith("nova, tell ")
    assert "Gus" not in seen.last.text
    assert {"bob", "carol"} >= {word for word in seen.last.words if word in ("bob", "carol")} != set()


def test_another_agent_and_other_people_read_alike() -> None:
    one = view(state("Petra", "Juno, ask Gus", said(("Gus", "hm"), ("Juno", "Yes.")), people=["Petra", "Gus"], agent="Juno"))
    two = view(state("Ana", "Iris, ask Beto", said(("Beto", "hm"), ("Iris", "Yes.")), people=["Ana", "Beto"], agent="Iris"))
    assert one == two


def test_the_agents_own_turns_are_its_own() -> None:
    seen = view(state("Ann", "thanks", said(("Nova", "It is noon.")), people=["Ann"]))
    assert [line.who for line in seen.before] == ["nova"]
    assert seen.alone


def test_ranks_of_look_alike_names_are_the_same_person_apart() -> None:
    seen = view(state("Ann (2)", "hello Ann", people=["Ann", "Ann (2)"]))
    assert seen.last.who == "alice"


def test_signs_and_case_outside_names_stay() -> None:
    assert view(state("Ann", "  «Nova», dit-elle… OK?  ")).last.text == "«nova», dit-elle… OK?"


def test_a_misheard_name_is_marked() -> None:
    assert view(state("Ann", "knova what time is it")).last.misheard
    assert not view(state("Ann", "Nova what time is it")).last.misheard


def test_what_is_missing_or_misshapen_reads_as_empty() -> None:
    seen = view({"last_turn": {"speaker": 3, "text": None}, "recent_turns": "no", "agent": []})
    assert (seen.last.text, seen.before, seen.people) == ("", (), 1)


def test_the_state_around_the_turn() -> None:
    seen = view(
        {
            "agent": {"name": "Nova", "listening_only": {"speaker": "Ann", "text": "Nova, just listen"}},
            "people": ["Ann", "Bo"],
            "last_turn": {"speaker": "Bo", "text": "right"},
            "assistant_cut_off": {"was_saying": "It will rain", "heard_seconds": 1.5},
            "assistant_thought": {"want_to_say": ["It is Canberra."], "urgent": True},
        }
    )
    assert seen.listening is not None
    assert seen.listening.text == "nova, just listen"
    assert seen.cut is not None
    assert (seen.cut.text, seen.heard_seconds, seen.urgent) == ("It will rain", 1.5, True)
    assert [wish.text for wish in seen.wishes] == ["It is Canberra."]
