"""Talk with an agent: rooms of people and agents, by voice and by text. The public names, each resolved when first used."""

import importlib

__version__ = "0.1.0"

_MODULES = {
    "voiceagent.agent.channel": ("AIChannel",),
    "voiceagent.agent.context": ("AIContext", "AIGenerationEvent"),
    "voiceagent.agent.deliberation": ("SpeakDecisionEvent",),
    "voiceagent.agent.job": ("Job",),
    "voiceagent.agent.memory": ("MemoryProvider", "RoomMemory"),
    "voiceagent.agent.mind": ("ThoughtEvent",),
    "voiceagent.agent.native": ("SteersLive",),
    "voiceagent.agent.notes": ("add_turn_note",),
    "voiceagent.agent.settings": ("AgentSettings",),
    "voiceagent.agent.strategies": ("Delegation", "Loop", "Said", "Strategy", "Supervisor"),
    "voiceagent.agent.tools": ("Tool", "tool"),
    "voiceagent.agent.workers": ("Worker", "Works"),
    "voiceagent.audio.frame": ("AudioFrame",),
    "voiceagent.errors": (
        "AudioError",
        "ConfigError",
        "LanguageModelError",
        "ModelError",
        "RoomError",
        "SpeechError",
        "StoreError",
        "TransportError",
        "VoiceAgentError",
        "WebError",
    ),
    "voiceagent.judgment.answer_only": ("AnswerOnly",),
    "voiceagent.judgment.classifier.alone": ("Alone",),
    "voiceagent.judgment.classifier.backchannel": ("Backchannels",),
    "voiceagent.judgment.classifier.carry_over": ("CarryOver",),
    "voiceagent.judgment.classifier.cascade": ("CascadeClassifier",),
    "voiceagent.judgment.classifier.embedded": ("EmbeddedClassifier",),
    "voiceagent.judgment.classifier.jev": ("JevClassifier",),
    "voiceagent.judgment.classifier.llm": ("LLMClassifier",),
    "voiceagent.judgment.classifier.mock": ("MockClassifier",),
    "voiceagent.judgment.classifier.openai": ("OpenAIClassifier",),
    "voiceagent.judgment.classifier.question": (
        "Answers",
        "ChoiceAnswer",
        "ChoiceQuestion",
        "Classifier",
        "ClassifierError",
        "ScoreAnswer",
        "ScoreQuestion",
        "YesNoAnswer",
        "YesNoQuestion",
    ),
    "voiceagent.judgment.classifier.questions": ("QUESTIONS",),
    "voiceagent.judgment.compose": ("compose",),
    "voiceagent.judgment.judged": ("ClassifierSpeakPolicy", "Judging"),
    "voiceagent.judgment.listening": ("LISTEN_REQUEST", "LISTENING_QUESTIONS"),
    "voiceagent.judgment.notes_thinker": ("NotesThinker",),
    "voiceagent.judgment.policy": (
        "AlwaysSpeak",
        "CutReply",
        "Foreseen",
        "MockSpeakPolicy",
        "SpeakDecision",
        "SpeakPolicy",
        "SpeakTurn",
    ),
    "voiceagent.judgment.settings": ("JudgmentSettings",),
    "voiceagent.judgment.thinker": ("Heard", "LLMThinker", "MockThinker", "Thinker"),
    "voiceagent.judgment.thought": ("Thought",),
    "voiceagent.llm.model": ("Done", "LanguageModel", "Message", "Prompt", "Steered", "TextDelta", "ToolCall", "ToolSpec"),
    "voiceagent.llm.notes": ("NotesModel",),
    "voiceagent.llm.openai": ("OpenAIModel",),
    "voiceagent.llm.scripted": ("CannedLine", "CannedModel", "EchoModel", "ScriptedModel"),
    "voiceagent.room.channel": ("Channel", "ChannelOutput", "RoomContext"),
    "voiceagent.room.consumption.state": ("Consumption",),
    "voiceagent.room.engine": ("RoomEngine",),
    "voiceagent.room.events": (
        "Access",
        "ChannelBinding",
        "ChannelType",
        "Direction",
        "EventSource",
        "EventStatus",
        "EventType",
        "InboundMessage",
        "InboundResult",
        "Participant",
        "RecordingContent",
        "Role",
        "RoomEvent",
        "SystemContent",
        "TextContent",
        "ToolCallContent",
    ),
    "voiceagent.room.feed": ("Feed", "FeedEvent", "Subscription"),
    "voiceagent.room.fence": ("fence",),
    "voiceagent.room.hooks": ("ErrorEvent", "HookExecution", "HookOutcome", "HookResult", "HookTrigger"),
    "voiceagent.room.memory": ("MemoryStore",),
    "voiceagent.room.postgres": ("PostgresStore",),
    "voiceagent.room.receipt": ("Receipt",),
    "voiceagent.room.reply": ("Reply",),
    "voiceagent.room.sqlite": ("SqliteStore",),
    "voiceagent.room.store": ("EventFilter", "Store"),
    "voiceagent.speech.engines": ("SpeechToText", "TextToSpeech", "Transcript", "VoiceDetector", "Word"),
    "voiceagent.transport.call": ("Call",),
    "voiceagent.voice.detector": ("InterruptionDetector", "Overlap", "PhraseBackchannelDetector"),
    "voiceagent.voice.reception": ("Hearing", "Reception"),
    "voiceagent.voice.settings": ("BargeInSettings", "InterruptionStrategy", "VoiceSettings"),
}
"""Which module each public name lives in; `__init__.pyi` tells type checkers the same."""

_HOME = {name: module for module, names in _MODULES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME)]  # noqa: PLE0604 - all of them are text


def __getattr__(name: str) -> object:
    """Imports the module of a public name when the name is first asked for, and keeps it."""
    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
