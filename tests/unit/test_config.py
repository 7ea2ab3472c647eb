"""Settings: the file, then the environment, then options; every mistake is named with the place where it stands."""

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

from voiceagent.config import Settings, load
from voiceagent.errors import ConfigError

BROWSER = Path(__file__).resolve().parents[2] / "config" / "browser.toml"


def written(folder: Path, text: str) -> Path:
    path = folder / "my.toml"
    path.write_text(text)
    return path


def refusal(folder: Path, text: str, **environ: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(written(folder, text), environ)
    return str(caught.value)


def test_nothing_set_gives_the_defaults() -> None:
    assert load(None, {}) == Settings()


def test_the_environment_wins_over_the_file_and_options_win_over_both(tmp_path: Path) -> None:
    path = written(tmp_path, '[web]\nport = 1000\nhost = "127.0.0.2"\n[agent]\nname = "Ada"\n')
    settings = load(
        path, {"VOICEAGENT_WEB__PORT": "2000", "VOICEAGENT_WEB__HOST": "127.0.0.3"}, {"web.port": 3000, "web.host": None}
    )
    assert (settings.web.port, settings.web.host, settings.agent.name) == (3000, "127.0.0.3", "Ada")


def test_nested_settings_and_lists_can_be_set_from_the_environment() -> None:
    environ = {"VOICEAGENT_VOICE__BARGE_IN__STRATEGY": "disabled", "VOICEAGENT_WEB__ALLOWED_ORIGINS": '["https://a.example.org"]'}
    settings = load(None, environ)
    assert settings.voice.barge_in.strategy == "disabled"
    assert settings.web.allowed_origins == ("https://a.example.org",)


def test_webhooks_are_a_list_of_tables_in_the_file_and_of_inline_tables_in_the_environment(tmp_path: Path) -> None:
    table = 'name = "crm"\nurl = "https://crm.example.org/x"\nsecret_env = "CRM"\n'
    inline = '[{name = "crm", url = "https://crm.example.org/x", secret_env = "CRM"}]'
    from_file = load(written(tmp_path, f"[[webhooks.hooks]]\n{table}"), {})
    assert [hook.name for hook in from_file.webhooks.hooks] == ["crm"]
    assert load(None, {"VOICEAGENT_WEBHOOKS__HOOKS": inline}) == from_file
    assert "`webhooks.hooks" in refusal(tmp_path, f'[[webhooks.hooks]]\n{table}secret = "whsec_x"\n')


@pytest.mark.parametrize("otlp", ["localhost:4318", "ftp://x", "http://user:word@x", "http://"])
def test_what_is_no_collector_is_refused(tmp_path: Path, otlp: str) -> None:
    assert "telemetry.otlp" in refusal(tmp_path, f'[telemetry]\notlp = "{otlp}"\n')


def test_variables_that_name_no_setting_are_left_alone() -> None:
    assert load(None, {"VOICEAGENT_MODELS": "x", "VOICEAGENT_SHARED": "y", "OTHER__KEY": "z"}) == Settings()


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        load(None, {}).web.port = 1  # type: ignore[misc]


def test_an_unknown_key_is_refused_with_its_line_and_the_nearest_known_one(tmp_path: Path) -> None:
    said = refusal(tmp_path, '# mine\n[web]\nport = 1\n\n[hearing]\nmodl = "base"\n')
    assert f"{tmp_path / 'my.toml'}:6: " in said
    assert "unknown setting `hearing.modl`" in said
    assert "did you mean `model`?" in said


def test_an_unknown_section_is_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    said = refusal(tmp_path, "\n[hering]\nmodel = 1\n")
    assert "my.toml:2: unknown setting `hering`; did you mean `hearing`?" in said


def test_an_unknown_key_like_no_other_is_refused_with_all_known_ones(tmp_path: Path) -> None:
    said = refusal(tmp_path, "[room]\nxyzzy = 1\n")
    assert "known here: database, max_chain_depth" in said


def test_an_unknown_variable_is_refused_by_its_name(tmp_path: Path) -> None:
    said = refusal(tmp_path, "", VOICEAGENT_WEB__PROT="1")
    assert said.startswith("VOICEAGENT_WEB__PROT: unknown setting `web.prot`; did you mean `port`?")


def test_a_key_under_a_value_is_no_crash(tmp_path: Path) -> None:
    assert "my.toml:2: `web.port`" in refusal(tmp_path, "[web]\nport = { a = 1 }\n")


def test_a_value_of_the_wrong_type_is_named_with_its_line(tmp_path: Path) -> None:
    said = refusal(tmp_path, '[web]\nhost = "127.0.0.1"\nport = "eighty"\n')
    assert "my.toml:3: `web.port`: input should be a valid integer" in said


def test_a_wrong_value_of_the_environment_is_named_by_its_variable(tmp_path: Path) -> None:
    assert "VOICEAGENT_WEB__PORT: `web.port`" in refusal(tmp_path, "[web]\nport = 1\n", VOICEAGENT_WEB__PORT="70000")


def test_a_wrong_option_is_named() -> None:
    with pytest.raises(ConfigError, match=r"option --port: `web\.port`"):
        load(None, {}, {"web.port": 70_000})


def test_several_mistakes_are_all_named(tmp_path: Path) -> None:
    said = refusal(tmp_path, '[web]\nport = "x"\n[room]\nmax_chain_depth = 0\n')
    assert "my.toml:2" in said
    assert "my.toml:4" in said


def test_what_belongs_together_is_checked_with_the_section_named(tmp_path: Path) -> None:
    assert "token_secret" in refusal(tmp_path, '[web]\nhost = "0.0.0.0"\n')


@pytest.mark.parametrize("text", ["[web\n", "port = = 1", "\x00"])
def test_a_file_that_is_not_toml_is_named(tmp_path: Path, text: str) -> None:
    assert "my.toml" in refusal(tmp_path, text)


def test_a_missing_file_is_named_with_one_to_start_from(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml; config/browser\.toml"):
        load(tmp_path / "gone.toml", {})


def test_the_browser_file_names_every_setting_with_its_default() -> None:
    assert load(BROWSER, {}) == Settings()
    text = BROWSER.read_text()
    missing = [
        name for name in _keys(Settings) if not any(line.lstrip("# ").startswith(f"{name} =") for line in text.splitlines())
    ]
    assert missing == []


def _keys(model: type[BaseModel]) -> list[str]:
    names: list[str] = []
    for name, field in model.model_fields.items():
        inner = field.annotation
        names += _keys(inner) if isinstance(inner, type) and issubclass(inner, BaseModel) else [name]
    return names


def test_reading_settings_loads_no_engine() -> None:
    look = "import sys, voiceagent.config; print(*(name for name in sys.modules if '.' not in name))"
    loaded = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, timeout=60).stdout.split()
    assert "pydantic" in loaded
    assert not set(loaded) & {"aiortc", "aiosqlite", "av", "faster_whisper", "numpy", "openai", "starlette", "uvicorn"}
    assert not set(loaded) & {"httpx2", "opentelemetry", "prometheus_client", "requests"}


@pytest.mark.parametrize("text", ["[web]\nport = " + "1" * 5_000, "x = " + "[" * 5_000], ids=["digits", "brackets"])
def test_toml_that_no_parser_can_take_is_refused_in_words(tmp_path: Path, text: str) -> None:
    file = tmp_path / "s.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match="is not TOML"):
        load(file, environ={})
    with pytest.raises(ConfigError):
        load(environ={"VOICEAGENT_WEB__ALLOWED_ORIGINS": "[" * 5_000})


@pytest.mark.parametrize(("section", "key"), [("hearing", "stt"), ("speaking", "tts"), ("llm", "brain")])
def test_a_chain_of_no_engines_is_refused_in_plain_words(tmp_path: Path, section: str, key: str) -> None:
    told = refusal(tmp_path, f"[{section}]\n{key} = []\n")
    assert f"my.toml:2: `{section}.{key}`: name at least one, or leave the line out" in told


def test_the_speakers_file_can_be_read_and_changes_no_default() -> None:
    assert load(BROWSER.with_name("speaker.toml"), {}) == Settings()
