"""Which engine each setting names; nothing else names them, and those that were not chosen are not imported."""

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from voiceagent.audio.frame import Samples
from voiceagent.config import Settings, SpeakerSection
from voiceagent.errors import ConfigError, LanguageModelError, ModelError, TransportError
from voiceagent.judgment.answer_only import AnswerOnly
from voiceagent.judgment.classifier.llm import LLMClassifier
from voiceagent.judgment.classifier.priors import Priors
from voiceagent.judgment.classifier.question import Classifier
from voiceagent.judgment.judged import ClassifierSpeakPolicy, Judging
from voiceagent.judgment.notes_thinker import Notebook, NotesThinker
from voiceagent.judgment.policy import AlwaysSpeak, SpeakPolicy
from voiceagent.judgment.settings import JudgmentSettings
from voiceagent.judgment.thinker import LLMThinker, Thinker
from voiceagent.languages import AUTO, LANGUAGES
from voiceagent.llm.chain import ModelChain
from voiceagent.llm.model import LanguageModel
from voiceagent.llm.scripted import CannedModel, EchoModel
from voiceagent.llm.settings import LanguageModelSettings
from voiceagent.plugins import PREFIX, find
from voiceagent.speech.chain import RecognizerChain, VoiceChain
from voiceagent.speech.endpoint import EndJudge
from voiceagent.speech.engines import SpeechToText, TextToSpeech, VoiceDetector
from voiceagent.speech.settings import HearingSettings, SpeakingSettings, VoicesSettings, WakeSettings
from voiceagent.speech.voicebook import VoiceBook, voices_file
from voiceagent.speech.wake import WakeFilter
from voiceagent.transport.speaker.standing import StandingCall
from voiceagent.voice.reception import Voices
from voiceagent.voice.who import Company
from voiceagent.weights import Weights

log = logging.getLogger(__name__)

EMBEDDING: Final = "all-MiniLM-L6-v2"
SMART_TURN: Final = "smart-turn"
ESPEAK: Final = "espeak:"


def speak_policy(settings: Settings, model: LanguageModel) -> tuple[SpeakPolicy, Classifier | None]:
    """The policy that the settings choose, and its classifier, to be closed by whoever asked; blocks. Raises ConfigError."""
    judgment = settings.judgment
    classifier = _classifier(judgment, model) if judgment.policy == "classifier" else None
    policy: SpeakPolicy = AlwaysSpeak()
    if classifier is not None:
        judging = Judging(judgment.history, judgment.proactivity, min(1.5, judgment.speak_timeout_ms * 0.75 / 1000))
        policy = ClassifierSpeakPolicy(
            Priors(judgment.alone, judgment.carry_over).around(classifier),
            agent_name=settings.agent.name,
            agent_role=judgment.agent_role,
            languages=judgment.languages,
            judging=judging,
        )
    return AnswerOnly(policy, judgment.answer_only) if judgment.answer_only else policy, classifier


def _classifier(settings: JudgmentSettings, model: LanguageModel) -> Classifier | None:
    """Who judges turns. Raises ConfigError when what the settings choose needs a key or another brain."""
    url = settings.classifier_url or None
    match settings.classifier:
        case "llm":
            try:
                return LLMClassifier(model)
            except ValueError as error:
                raise ConfigError(f'[judgment] classifier: {error}; such as [llm] brain = "openai" or "gguf"') from None
        case "openai":
            from voiceagent.judgment.classifier.openai import OpenAIClassifier

            return OpenAIClassifier(base_url=url)
        case "jev":
            try:
                from voiceagent.judgment.classifier.jev import JevClassifier
            except ModuleNotFoundError:
                raise ConfigError("the jev classifier is not installed; run: pip install 'voiceagent[jev]'") from None
            return JevClassifier(base_url=url)
        case "embedded" | "lexical":
            return _embedded(lexical=settings.classifier == "lexical")


def _embedded(*, lexical: bool) -> Classifier | None:
    """The classifier of this machine, by words alone where its network cannot be used; None where its weights are missing or
    damaged too. Whatever is less than was asked for is logged as degraded."""
    from voiceagent.judgment.classifier.embedded import EmbeddedClassifier

    try:
        return EmbeddedClassifier(lexical=lexical)
    except ModelError as error:
        if lexical:
            log.warning("degraded: every turn is answered, since none can be judged: %s", error)
            return None
        log.warning("degraded: turns are judged by their words alone: %s", error)
        return _embedded(lexical=True)


def thinker(settings: JudgmentSettings, model: LanguageModel) -> Thinker | None:
    """Who thinks while the agent listens; nobody where every turn is answered. Raises ConfigError."""
    if settings.policy == "always" and not settings.answer_only:
        return None
    match settings.thinker:
        case "notes":
            return NotesThinker(model) if isinstance(model, Notebook) else None
        case "llm":
            try:
                return LLMThinker(model)
            except ValueError as error:
                raise ConfigError(f"[judgment] thinker: {error}") from None
        case "off":
            return None


def brain(settings: LanguageModelSettings) -> LanguageModel:
    """The language model that the settings choose, or the chain of them; blocks. Raises ConfigError or ModelError."""
    made = [_one_brain(name, settings) for name in settings.brain]
    return made[0] if len(made) == 1 else ModelChain(made, settings.late_ms)


def _one_brain(name: str, settings: LanguageModelSettings) -> LanguageModel:
    match name:
        case "echo":
            return EchoModel()
        case "canned":
            return _canned(settings.canned or Path())
        case "notes":
            return _notes(settings.notes)
        case "openai":
            from voiceagent.llm.openai import OpenAIModel

            return OpenAIModel(settings.url, settings.model, os.environ.get(settings.api_key_env), settings)
        case "gguf":
            try:
                from voiceagent.llm.gguf import GgufModel
            except ModuleNotFoundError as error:
                raise ModelError(f"no brain: {error.name} is not installed; run: pip install 'voiceagent[gguf]'") from None
            return GgufModel(settings.gguf or Path(), settings)
        case _ if name.startswith(PREFIX):
            found = find(name, "LLM")
            from voiceagent.llm.plugins import PluginModel

            return PluginModel(found, settings.options.get(found.plugin, {}), settings)
        case _:
            raise ConfigError(f"there is no brain {name!r}; [llm] model names the model of a server, gguf its file")


def _canned(path: Path) -> LanguageModel:
    try:
        return CannedModel.from_file(path)
    except LanguageModelError as error:
        raise ConfigError(str(error)) from None


def _notes(path: Path) -> LanguageModel:
    """Answers from a file; the notes that come with the package stand in for the default file where that is not."""
    from voiceagent.llm.embedding import MiniLM
    from voiceagent.llm.notes import NotesModel

    package = Path(__file__).parent
    shipped = next((file for file in (package / "notes.md", package.parent / "config" / "notes.md") if file.is_file()), path)
    is_default = path == LanguageModelSettings().notes
    chosen = shipped if is_default and not path.is_file() else path
    embedder = MiniLM(Weights().whole(EMBEDDING))
    try:
        return NotesModel.from_file(chosen, embedder)
    except LanguageModelError as error:
        raise ConfigError(str(error)) from None


def recognizer(settings: HearingSettings, given: SpeechToText | None) -> tuple[SpeechToText, Callable[[], VoiceDetector]]:
    """The recognizer for all calls (the one given, if any; else the chosen one, or the chain of them), and what makes a detector
    for each; blocks. Raises ConfigError or ModelError."""
    made = [given] if given is not None else [_one_recognizer(name, settings) for name in settings.stt]
    return made[0] if len(made) == 1 else RecognizerChain(made, settings.late_ms), _detectors(settings)


def _one_recognizer(name: str, settings: HearingSettings) -> SpeechToText:
    if name.startswith(PREFIX):
        found = find(name, "STT")
        from voiceagent.speech.plugins.stt import PluginRecognizer

        return PluginRecognizer(found, settings.options.get(found.plugin, {}), settings.language)
    from voiceagent.speech.whisper import WhisperEngine

    weights, model = Weights(), name.partition(":")[2] or settings.model
    known = model if f"whisper-{model}" not in weights.models else f"whisper-{model}"
    return WhisperEngine(weights.whole(known), language=settings.language)


def judge(settings: HearingSettings) -> EndJudge | None:
    """Who tells by the sound whether a speaker who has paused is done; None, and said, where it cannot be loaded; blocks."""
    from voiceagent.speech.smartturn import SmartTurn

    try:
        return SmartTurn(Weights().whole(SMART_TURN)) if settings.smart_turn else None
    except ModelError as error:
        log.warning("degraded: words and silence alone tell where turns end: %s", error)
        return None


def _detectors(settings: HearingSettings) -> Callable[[], VoiceDetector]:
    if settings.vad.startswith(PREFIX):
        found = find(settings.vad, "VAD")
        from voiceagent.speech.plugins.vad import PluginDetectors

        return PluginDetectors(found, settings.options.get(found.plugin, {}))
    from voiceagent.speech.detector import GatedDetector, Silero

    silero = Silero(Weights().whole("silero-vad"))
    return lambda: GatedDetector(silero, settings.gate_mode)


def voice_book(settings: VoicesSettings) -> VoiceBook:
    """Whom the program knows by voice."""
    return VoiceBook(settings.file or voices_file(), settings.model)


def record(seconds: float, device: str | None) -> Samples:
    """So much of a microphone; blocks for as long. Raises TransportError."""
    try:
        from voiceagent.transport.microphone import record as by_microphone
    except (ModuleNotFoundError, OSError) as error:  # OSError: the library of its own that sounddevice looks for
        raise TransportError(f"no microphone: {error}; run: pip install 'voiceagent[speaker]', or give recordings") from None
    return by_microphone(seconds, device)


def speaker_call(session_id: str, settings: SpeakerSection) -> StandingCall:
    """The line by this machine's microphone and loudspeaker, which `run()` opens; on a running loop. Raises TransportError."""
    try:
        from voiceagent.transport.speaker.call import SpeakerCall
    except (ModuleNotFoundError, OSError) as error:
        raise TransportError(_no_devices(error)) from None
    return SpeakerCall(session_id, settings.input, settings.output, cancel=settings.cancel_echo)


def sound_devices() -> list[tuple[str, str, int, int, bool]]:
    """What there is to hear and to play with: kind, name, rate, channels, if it is the default; blocks. Raises TransportError."""
    try:
        from voiceagent.transport.speaker.devices import devices
    except (ModuleNotFoundError, OSError) as error:
        raise TransportError(_no_devices(error)) from None
    return [(one.kind, one.name, one.rate, one.channels, one.is_default) for one in devices()]


async def sound_check(settings: SpeakerSection, sentence: Samples) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Plays a sentence and records it: what was found, by name, and what to change. Raises TransportError."""
    try:
        from voiceagent.transport.speaker.check import check
    except (ModuleNotFoundError, OSError) as error:
        raise TransportError(_no_devices(error)) from None
    found = await check(settings.input, settings.output, sentence)
    rows = (
        ("the room, without the sentence", f"{found.noise:.0f} dBFS"),
        ("the sentence at the microphone", f"{found.heard:.0f} dBFS, loudest {found.peak:.0f}"),
        ("from order to microphone", f"{found.delay_ms} ms"),
        ("echo taken out", f"{found.loss_db:.0f} dB"),
    )
    return rows, found.advice


def _no_devices(error: Exception) -> str:
    """What is missing: a package, or the library of its own that sounddevice looks for."""
    return f"no sound devices: {error}; run: pip install 'voiceagent[speaker]' (Debian: apt-get install libportaudio2, too)"


def voices(settings: VoicesSettings) -> Voices | None:
    """What tells people on one line apart; None, and said, where it cannot be loaded; blocks."""
    from voiceagent.speech.voices import VoiceEncoder

    if not settings.on:
        return None
    try:
        encoder = VoiceEncoder(Weights().whole(settings.model))
    except ModelError as error:
        log.warning("degraded: people on one microphone are not told apart: %s", error)
        return None
    book = voice_book(settings)
    return Voices(encoder, lambda: Company(book.known, settings))


def wake(settings: WakeSettings) -> WakeFilter | None:
    """What puts one line to sleep and wakes it; None where it is always awake; blocks. Raises ModelError."""
    if settings.phrase is None:
        return None
    try:
        from voiceagent.speech.microwake import MicroSpotter
    except ModuleNotFoundError as error:
        raise ModelError(f"no wake word: {error.name} is not installed; run: pip install 'voiceagent[speaker]'") from None
    from voiceagent.speech.gate import Gate

    return WakeFilter(settings, MicroSpotter(settings.phrase), MicroSpotter(settings.phrase), Gate())


def voice(settings: SpeakingSettings) -> TextToSpeech:
    """The voice for all rooms, or the chain of them; blocks. Raises ConfigError or ModelError."""
    made = [_chosen_voice(name, settings) for name in settings.tts]
    return made[0] if len(made) == 1 else VoiceChain(made, settings.late_ms)


def _chosen_voice(name: str, settings: SpeakingSettings) -> TextToSpeech:
    if name.startswith(PREFIX):
        found = find(name, "TTS")
        from voiceagent.speech.plugins.tts import PluginVoice

        return PluginVoice(found, settings.options.get(found.plugin, {}), settings.gain_db)
    kind, _, voice = name.partition(":")
    if kind == "espeak" or voice:
        return _named_voice(name if kind == "espeak" else voice, settings)
    return _own_voice(settings)


def _own_voice(settings: SpeakingSettings) -> TextToSpeech:
    """The voice that `voice` names, or one for each language. Raises ModelError when there is none."""
    if settings.language == AUTO:
        from voiceagent.speech.polyglot import Polyglot

        return Polyglot({code: _one_voice(own) for code, own in _voices(settings).items()})
    return _one_voice(settings)


def _voices(settings: SpeakingSettings) -> dict[str, SpeakingSettings]:
    """What each language is spoken with where people speak several: the voice that is set for English, its own for the others."""
    voices = {code: (known.voice, f"{ESPEAK}{code}") for code, known in LANGUAGES.items()}
    voices["en"] = (settings.voice, settings.fallback)
    return {code: settings.model_copy(update={"voice": v, "fallback": f}) for code, (v, f) in voices.items()}


def _one_voice(settings: SpeakingSettings) -> TextToSpeech:
    """The voice that is set, or the one that stands in for it. Raises ModelError."""
    try:
        return _named_voice(settings.voice, settings)
    except ModelError as error:
        if not settings.fallback:
            raise
        log.warning("degraded: %s speaks, since %s", settings.fallback, error)
        return _named_voice(settings.fallback, settings)


def _named_voice(name: str, settings: SpeakingSettings) -> TextToSpeech:
    if name.startswith(ESPEAK):
        from voiceagent.speech.espeak import EspeakEngine

        return EspeakEngine(name.removeprefix(ESPEAK), settings)
    try:
        from voiceagent.speech.piper import PiperEngine
    except ModuleNotFoundError as error:
        raise ModelError(f"no voice: {error.name} is not installed; run: pip install 'voiceagent[piper]'") from None
    return PiperEngine(Weights().whole(name), settings)
