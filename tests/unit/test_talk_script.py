"""Who calls in a run of `talk`: names from files, scripts with times, and each mistake named."""

from pathlib import Path

import pytest

from voiceagent.cli.script import Caller, from_files, read_script
from voiceagent.errors import ConfigError


def script(folder: Path, text: str) -> Path:
    path = folder / "two.toml"
    path.write_text(text)
    return path


def test_callers_are_named_after_their_files() -> None:
    assert from_files([Path("a/ann.wav"), Path("bob.flac")]) == (
        Caller("ann", Path("a/ann.wav")),
        Caller("bob", Path("bob.flac")),
    )


def test_a_file_named_twice_makes_two_people() -> None:
    assert [caller.name for caller in from_files([Path("ann.wav"), Path("b/ann.wav"), Path("ann.wav")])] == [
        "ann",
        "ann 2",
        "ann 3",
    ]


def test_a_script_gives_times_and_files_beside_it(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
        [[caller]]
        name = "Ann"
        file = "ann.wav"

        [[caller]]
        name = "Bob"
        file = "sub/bob.wav"
        start_ms = 1500
        from_ms = 200
        to_ms = 900
        """,
    )
    assert read_script(path) == (
        Caller("Ann", tmp_path / "ann.wav"),
        Caller("Bob", tmp_path / "sub" / "bob.wav", 1500, 200, 900),
    )


def test_a_caller_without_a_name_is_named_after_the_file(tmp_path: Path) -> None:
    assert read_script(script(tmp_path, '[[caller]]\nfile = "zoe.wav"\n'))[0].name == "zoe"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "no [[caller]]"),
        ("caller = 3", "no [[caller]]"),
        ("caller = [3]", "caller 1: not a table"),
        ("not toml at all", "cannot read"),
        ('[[caller]]\nname = "a"', "`file`"),
        ("[[caller]]\nfile = 3", "`file`"),
        ('[[caller]]\nfile = "a.wav"\nname = 3', "`name`"),
        ('[[caller]]\nfile = "a.wav"\nstart = 3', "did you mean `start_ms`?"),
        ('[[caller]]\nfile = "a.wav"\nstart_ms = -1', "`start_ms`"),
        ('[[caller]]\nfile = "a.wav"\nstart_ms = 1.5', "`start_ms`"),
        ('[[caller]]\nfile = "a.wav"\nstart_ms = true', "`start_ms`"),
        ('[[caller]]\nfile = "a.wav"\nfrom_ms = 5\nto_ms = 5', "`to_ms`"),
        ('other = 1\n[[caller]]\nfile = "a.wav"', "unknown key `other`"),
        ('[[caller]]\nfile = "a.wav"\n[[caller]]\nfile = "b/a.wav"', "two callers are named `a`"),
    ],
)
def test_each_mistake_is_named(tmp_path: Path, text: str, names: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_script(script(tmp_path, text))
    assert names in str(caught.value)
    assert "two.toml" in str(caught.value)


def test_a_missing_script_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no script .*gone\.toml"):
        read_script(tmp_path / "gone.toml")
