"""Builds everything from Settings and owns it while the program runs."""

import asyncio
import contextlib
import inspect
import logging
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeVar

from anyio.lowlevel import checkpoint

from voiceagent import __version__, engines
from voiceagent.agent.channel import AIChannel
from voiceagent.agent.settings import AgentSettings
from voiceagent.agent.tools import Tool
from voiceagent.config import Settings
from voiceagent.errors import ConfigError
from voiceagent.fallback import opened
from voiceagent.judgment.answers.judge import WordsJudge
from voiceagent.judgment.policy import SpeakPolicy
from voiceagent.judgment.thinker import Thinker
from voiceagent.languages import AUTO, LANGUAGES
from voiceagent.llm.model import LanguageModel
from voiceagent.room.engine import RoomEngine
from voiceagent.room.memory import MemoryStore
from voiceagent.room.sqlite import SqliteStore
from voiceagent.room.store import Store
from voiceagent.speech.engines import SpeechToText, TextToSpeech, VoiceDetector
from voiceagent.speech.onset import Onset
from voiceagent.speech.settings import HearingSettings, SpeakingSettings
from voiceagent.trace.lag import watch_loop
from voiceagent.trace.settings import TelemetrySettings
from voiceagent.trace.witness import NOBODY, Exporter, Figures, Witness
from voiceagent.transport.call import Call
from voiceagent.voice.barge import murmurs_of
from voiceagent.voice.reception import Hearing, Reception, Voices
from voiceagent.voice.settings import VoiceSettings
from voiceagent.voice.stopping import StopListener
from voiceagent.voice.wakeful import WakefulCall
from voiceagent.web.metrics import show
from voiceagent.web.push.pusher import AT_ONCE, Pusher, Sealer
from voiceagent.web.push.settings import PushSettings
from voiceagent.web.status import Status
from voiceagent.web.webhooks.sender import HttpSender
from voiceagent.web.webhooks.settings import WebhookSettings
from voiceagent.web.webhooks.webhooks import Webhooks

T = TypeVar("T")

log = logging.getLogger(__name__)

ADVICE: Final = (
    'These answers come from a file of notes. For a model: [llm] brain = "openai" with the url and model of any compatible '
    'server, or brain = "gguf" with a file, then start again.'
)


@dataclass(frozen=True, slots=True)
class Choices:
    """What a command asks for over the settings.

    `sound` False: nothing that hears or speaks is loaded, and there is no reception. `greet` False: no call is greeted.
    `shared`: several people may share a line, and are told apart by voice. `memory`: rooms are kept nowhere, and no webhook hears
    of them. `ids` makes every id. `provider`, `stt`, `tts` and `policy`
    take the place of what the settings name; `tools` are the agent's. `voice` may put something around the loaded voice.
    """

    sound: bool = True
    greet: bool = True
    shared: bool = False
    memory: bool = False
    ids: Callable[[], str] | None = None
    provider: LanguageModel | None = None
    stt: SpeechToText | None = None
    tts: TextToSpeech | None = None
    policy: SpeakPolicy | None = None
    tools: tuple[Tool | Callable[..., Awaitable[object]], ...] = ()
    voice: Callable[[TextToSpeech], TextToSpeech] = lambda voice: voice


class App:
    """The running program: `async with App(settings) as app:` gives `engine`, `agent`, `reception`; leaving it ends all of it.

    Entering loads the models, in threads. Raises ModelError when one is missing or damaged, ConfigError when the settings name
    a file that cannot be used, StoreError when the database cannot be opened.
    """

    def __init__(self, settings: Settings, choices: Choices = Choices()) -> None:
        self.settings = settings
        self._choices = choices
        self._stack = contextlib.AsyncExitStack()
        self._engine: RoomEngine | None = None
        self._model: LanguageModel | None = None
        self._reception: Reception | None = None
        self._thinker: Thinker | None = None
        self._ears: tuple[SpeechToText, Callable[[], VoiceDetector]] | None = None
        self.figures: Figures | None = None
        self.pusher: Pusher | None = None

    async def __aenter__(self) -> Self:
        try:
            await self._build()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._stack.__aexit__(kind, error, trace)

    async def _build(self) -> None:
        await checkpoint()  # anyio loads its part for asyncio at its first use: 30 ms, in a caller's first turn otherwise
        self._model, sound = await self._load()
        voices = await self._voices() if self._choices.sound and self._choices.shared else None
        room, agent = self.settings.room, self.settings.agent
        store, witness = await self._store(), self._witness()
        told = WebhookSettings() if self._choices.memory else self.settings.webhooks
        hooks = await self._stack.enter_async_context(Webhooks(told, store, os.environ))
        engine = RoomEngine(
            store=store,
            max_chain_depth=room.max_chain_depth,
            process_timeout=room.process_timeout_ms / 1000,
            ids=self._choices.ids,
            witness=witness,
            on_line=hooks.on_line,
            other_rooms=room.other_rooms,
            judge=WordsJudge(tuple(LANGUAGES) if self.settings.language == AUTO else (self.settings.language,)),
        )
        self._engine = await self._stack.enter_async_context(engine)
        self.pusher = await self._push(engine)
        engine.register_channel(await self._agent(agent, self._model))
        if sound is not None:
            self._reception = Reception(engine, *sound, self._voice_settings(), self.settings.speaking, voices=voices)
        if self.figures is not None:
            show(self.figures, engine, hooks, lambda: 0 if self._reception is None else self._reception.calls)
            lag = asyncio.create_task(watch_loop(self.figures.lag), name="lag of the loop")
            self._stack.callback(lag.cancel)

    async def _push(self, engine: RoomEngine) -> Pusher | None:
        """Who notifies devices of urgent questions, if the settings hold a key."""
        settings = self.settings.web.push
        if settings.key is None:
            return None
        pusher = Pusher(settings, _envelopes(settings), HttpSender(AT_ONCE, __version__))
        self._stack.callback(engine.questions.watchers.watch(pusher.take))
        return await self._stack.enter_async_context(pusher)

    def _witness(self) -> Witness:
        """Who is told what is measured."""
        self.figures, traces = _measuring(self.settings.telemetry, self.settings.llm.brain[0])
        readers = (self.figures, self._closing(traces))
        return sum((reader.witness() for reader in readers if reader is not None), NOBODY)

    async def _agent(self, agent: AgentSettings, model: LanguageModel) -> AIChannel:
        judgment = self.settings.judgment
        policy = self._choices.policy
        if policy is None and (judgment.policy != "always" or judgment.answer_only):
            policy, classifier = await asyncio.get_running_loop().run_in_executor(
                None, engines.speak_policy, self.settings, model
            )
            if classifier is not None:
                self._stack.push_async_callback(classifier.close)
        self._thinker = engines.thinker(judgment, model)
        return AIChannel(
            agent.channel_id,
            provider=model,
            tools=self._choices.tools,
            speak_policy=policy,
            speak_timeout=judgment.speak_timeout_ms / 1000,
            thinker=self._thinker,
            think_wait=judgment.think_wait_ms / 1000,
            settings=agent,
        )

    @property
    def engine(self) -> RoomEngine:
        """The rooms."""
        return _entered(self._engine)

    @property
    def model(self) -> LanguageModel:
        """The brain."""
        return _entered(self._model)

    @property
    def think_wait_ms(self) -> int:
        """How long a turn that is not taken waits for what the agent thinks of it; 0 when nobody thinks."""
        return 0 if self._thinker is None else self.settings.judgment.think_wait_ms

    @property
    def reception(self) -> Reception:
        """Where calls go. Raises RuntimeError when sound was not asked for."""
        return _entered(self._reception)

    def wakeful(self, call: Call, on_change: Callable[[bool], None] = lambda _: None) -> Call:
        """The call as a line that sleeps until its wake word is said, if the settings name one; `on_change` is told when it wakes
        and sleeps. A stop is looked for while it sleeps where the recognizer is on this machine. Blocks a little. Raises
        ModelError."""
        stt, detectors = _entered(self._ears)
        wake, hearing = engines.wake(self.settings.speaker.wake), self.settings.hearing
        if wake is None:
            return call
        local = all(name.startswith("whisper") for name in hearing.stt)
        murmurs = murmurs_of(self.settings.voice.barge_in)
        return WakefulCall(
            call, wake, stops=StopListener(stt, detectors(), hearing, murmurs) if local else None, on_change=on_change
        )

    async def open_room(self, room_id: str) -> None:
        """Opens a room with the agent in it; does nothing when both are there."""
        await self.engine.create_room(room_id)
        await self.engine.attach_channel(room_id, self.settings.agent.channel_id)

    def status(self) -> Status:
        """What the page says of the program."""
        heard, spoken = _heard_with(self.settings.hearing), _spoken_with(self.settings.speaking)
        advice = ADVICE if self.settings.llm.brain == ("notes",) else ""
        return Status(
            __version__, self.model.name, advice, {"hearing": heard, "speaking": spoken}, agent=self.settings.agent.name
        )

    def _voice_settings(self) -> VoiceSettings:
        voice = self.settings.voice
        return voice if self._choices.greet else voice.model_copy(update={"greeting": ""})

    async def _load(self) -> tuple[LanguageModel, tuple[Hearing, TextToSpeech] | None]:
        """Loads what takes long side by side, each in a thread; what was loaded is closed when the program ends."""
        settings, given, loop = self.settings, self._choices, asyncio.get_running_loop()
        with ThreadPoolExecutor(4, thread_name_prefix="load") as pool:
            loading = loop.run_in_executor(pool, lambda: given.provider or engines.brain(settings.llm))
            if not given.sound:
                return self._closing(await loading), None
            hearing = loop.run_in_executor(pool, engines.recognizer, settings.hearing, given.stt)
            voice = loop.run_in_executor(pool, lambda: given.tts or engines.voice(settings.speaking))
            judging = loop.run_in_executor(pool, engines.judge, settings.hearing)
            model, heard, spoken, judge = await asyncio.gather(loading, hearing, voice, judging)
        stt, detectors = self._ears = heard
        made = (
            self._closing(model),
            (
                Hearing(self._closing(stt), self._closing(detectors), settings.hearing, judge=self._closing(judge), onset=Onset),
                given.voice(self._closing(spoken)),
            ),
        )
        await opened(stt, spoken)
        return made

    async def _voices(self) -> Voices | None:
        """What tells people on one line apart."""
        voices = await asyncio.get_running_loop().run_in_executor(None, engines.voices, self.settings.speaker.voices)
        if voices is not None:
            self._closing(voices.reader)
        return voices

    def _closing(self, engine: T) -> T:
        close = getattr(engine, "close", None)
        if close is not None:
            self._stack.push_async_callback(_close, close)
        return engine

    async def _store(self) -> Store:
        database = self.settings.room.database
        if self._choices.memory or database is None:
            return MemoryStore()
        store = await _postgres(database) if isinstance(database, str) else await SqliteStore.open(database)
        self._stack.push_async_callback(store.close)
        return store


def _heard_with(settings: HearingSettings) -> str:
    return ", then ".join(settings.model if name == "whisper" else name for name in settings.stt)


def _spoken_with(settings: SpeakingSettings) -> str:
    return ", then ".join(settings.voice if name == "piper" else name for name in settings.tts)


def _measuring(settings: TelemetrySettings, provider: str) -> tuple[Figures | None, Exporter | None]:
    """What counts and what traces, as the settings ask; nothing does where the packages for it are not installed."""
    figures: Figures | None = None
    try:
        if settings.metrics:
            from voiceagent.trace.prometheus import Prometheus

            figures = Prometheus()
        if settings.otlp is not None:
            from voiceagent.trace.otlp import over_http

            return figures, over_http(settings.otlp, __version__, provider)
    except ModuleNotFoundError as error:
        log.warning("not all is measured: %s is not installed; run: pip install 'voiceagent[telemetry]'", error.name)
    return figures, None


def _envelopes(settings: PushSettings) -> Sealer:
    """What seals notifications. Raises ConfigError when its packages are not installed."""
    try:
        from voiceagent.web.push.envelope import Envelopes
    except ModuleNotFoundError as error:
        raise ConfigError(f"no notifications: {error.name} is not installed; run: pip install 'voiceagent[push]'") from None
    return Envelopes(settings)


async def _postgres(dsn: str) -> Store:
    """The rooms of a Postgres database. Raises ConfigError when its client is not installed, StoreError for the database."""
    try:
        from voiceagent.room.postgres import PostgresStore
    except ModuleNotFoundError as error:
        raise ConfigError(f"no database: {error.name} is not installed; run: pip install 'voiceagent[postgres]'") from None
    store = PostgresStore(dsn)
    await store.init()
    return store


async def _close(close: Callable[[], object]) -> None:
    closed = close()
    if inspect.isawaitable(closed):
        await closed


def _entered(part: T | None) -> T:
    if part is None:
        raise RuntimeError("this part of the app is there only inside `async with App(...)`, and when it was asked for")
    return part
