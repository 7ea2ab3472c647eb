"""The file of known voices: prints and names, nothing else, and gone when somebody is removed."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from voiceagent.errors import ConfigError
from voiceagent.speech.traits import Print, unit
from voiceagent.speech.voicebook import VoiceBook, voices_file


def voice(axis: int) -> Print:
    made = np.zeros(256, dtype=np.float32)
    made[axis] = 1.0
    return made


@pytest.fixture
def book(tmp_path: Path) -> VoiceBook:
    return VoiceBook(tmp_path / "deep" / "voices.json", "encoder")


def test_nobody_is_known_before_anybody_is_added(book: VoiceBook) -> None:
    assert book.known() == ()


def test_a_person_is_as_alike_as_the_nearest_of_their_prints(book: VoiceBook) -> None:
    book.add("Ana", [voice(1), voice(2)])
    (ana,) = book.known()
    assert ana.name == "Ana"
    assert ana.likeness(unit(voice(1) * 0.3 + voice(2))) == pytest.approx(float(unit(voice(1) * 0.3 + voice(2))[2]), abs=1e-5)


def test_who_may_be_taken_for_whom(book: VoiceBook) -> None:
    book.add("Ana", [voice(1)])
    book.add("Ben", [voice(2)])
    book.add("Joe", [unit(voice(1) + 0.1 * voice(2))])
    assert book.alike("joe", 0.9) == ["Ana"]


def test_the_file_holds_names_and_prints_for_its_owner_only(book: VoiceBook) -> None:
    book.add("Ana", [voice(1)])
    page = json.loads(book.path.read_text())
    assert {key for row in page["voices"] for key in row} == {"name", "prints"}
    assert os.stat(book.path).st_mode & 0o777 == 0o600
    assert os.listdir(book.path.parent) == [book.path.name]


def test_enrolling_again_takes_the_place_of_what_was_known(book: VoiceBook) -> None:
    book.add("Ana", [voice(1)])
    book.add("  ana ", [voice(2)])
    assert [(known.name, int(known.prints[0].argmax())) for known in book.known()] == [("ana", 2)]


def test_removing_leaves_nothing_of_a_person(book: VoiceBook) -> None:
    book.add("Ana", [voice(1)])
    book.add("Ben", [voice(2)])
    book.remove("ANA")
    assert [known.name for known in book.known()] == ["Ben"]
    assert "Ana" not in book.path.read_text()


def test_who_is_not_there_cannot_be_removed(book: VoiceBook) -> None:
    with pytest.raises(ConfigError, match="known: nobody"):
        book.remove("Ana")


@pytest.mark.parametrize("name", ["", "  ", "voice 3", "Voice 12", "x" * 65])
def test_a_name_that_is_none_or_a_strangers_is_refused(book: VoiceBook, name: str) -> None:
    with pytest.raises(ConfigError, match="names nobody"):
        book.add(name, [voice(1)])


def test_another_process_changes_are_seen(book: VoiceBook) -> None:
    book.add("Ana", [voice(1)])
    assert len(book.known()) == 1
    other = VoiceBook(book.path, "encoder")
    other.add("Ben", [voice(2)])
    assert [known.name for known in book.known()] == ["Ana", "Ben"]
    book.path.unlink()
    assert book.known() == ()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"model": "encoder", "voices": [{"name": "A"}]}'])
def test_a_damaged_file_says_what_to_do(book: VoiceBook, text: str) -> None:
    book.path.parent.mkdir()
    book.path.write_text(text)
    with pytest.raises(ConfigError, match="remove it and enrol anew"):
        book.known()


def test_prints_of_another_encoder_are_of_no_use(book: VoiceBook) -> None:
    book.add("Ana", [voice(1)])
    with pytest.raises(ConfigError, match="as encoder hears them, not other"):
        VoiceBook(book.path, "other").known()


def test_the_file_lies_among_the_users_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert voices_file() == tmp_path / "voiceagent" / "voices.json"
