"""The public names as type checkers see them; each is imported when first used."""

from voiceagent.agent.channel import AIChannel as AIChannel
from voiceagent.agent.context import AIContext as AIContext, AIGenerationEvent as AIGenerationEvent
from voiceagent.agent.deliberation import SpeakDecisionEvent as SpeakDecisionEvent
from voiceagent.agent.job import Job as Job
from voiceagent.agent.memory import MemoryProvider as MemoryProvider, RoomMemory as RoomMemory
from voiceagent.agent.mind import ThoughtEvent as ThoughtEvent
from voiceagent.agent.native import SteersLive as SteersLive
from voiceagent.agent.notes import add_turn_note as add_turn_note
from voiceagent.agent.settings import AgentSettings as AgentSettings
from voiceagent.agent.strategies import (
    Delegation as Delegation,
    Loop as Loop,
    Said as Said,
    Strategy as Strategy,
    Supervisor as Supervisor,
)
from voiceagent.agent.tools import Tool as Tool, tool as tool
from voiceagent.agent.workers import Worker as Worker, Works as Works
from voiceagent.audio.frame import AudioFrame as AudioFrame
from voiceagent.errors import (
    AudioError as AudioError,
    ConfigError as ConfigError,
    LanguageModelError as LanguageModelError,
    ModelError as ModelError,
    RoomError as RoomError,
    SpeechError as SpeechError,
    StoreError as StoreError,
    TransportError as TransportError,
    VoiceAgentError as VoiceAgentError,
    WebError as WebError,
)
from voiceagent.judgment.answer_only import AnswerOnly as AnswerOnly
from voiceagent.judgment.classifier.alone import Alone as Alone
from voiceagent.judgment.classifier.backchannel import Backchannels as Backchannels
from voiceagent.judgment.classifier.carry_over import CarryOver as CarryOver
from voiceagent.judgment.classifier.cascade import CascadeClassifier as CascadeClassifier
from voiceagent.judgment.classifier.embedded import EmbeddedClassifier as EmbeddedClassifier
from voiceagent.judgment.classifier.jev import JevClassifier as JevClassifier
from voiceagent.judgment.classifier.llm import LLMClassifier as LLMClassifier
from voiceagent.judgment.classifier.mock import MockClassifier as MockClassifier
from voiceagent.judgment.classifier.openai import OpenAIClassifier as OpenAIClassifier
from voiceagent.judgment.classifier.question import (
    Answers as Answers,
    ChoiceAnswer as ChoiceAnswer,
    ChoiceQuestion as ChoiceQuestion,
    Classifier as Classifier,
    ClassifierError as ClassifierError,
    ScoreAnswer as ScoreAnswer,
    ScoreQuestion as ScoreQuestion,
    YesNoAnswer as YesNoAnswer,
    YesNoQuestion as YesNoQuestion,
)
from voiceagent.judgment.classifier.questions import QUESTIONS as QUESTIONS
from voiceagent.judgment.compose import compose as compose
from voiceagent.judgment.judged import ClassifierSpeakPolicy as ClassifierSpeakPolicy, Judging as Judging
from voiceagent.judgment.listening import LISTEN_REQUEST as LISTEN_REQUEST, LISTENING_QUESTIONS as LISTENING_QUESTIONS
from voiceagent.judgment.notes_thinker import NotesThinker as NotesThinker
from voiceagent.judgment.policy import (
    AlwaysSpeak as AlwaysSpeak,
    CutReply as CutReply,
    Foreseen as Foreseen,
    MockSpeakPolicy as MockSpeakPolicy,
    SpeakDecision as SpeakDecision,
    SpeakPolicy as SpeakPolicy,
    SpeakTurn as SpeakTurn,
)
from voiceagent.judgment.settings import JudgmentSettings as JudgmentSettings
from voiceagent.judgment.thinker import Heard as Heard, LLMThinker as LLMThinker, MockThinker as MockThinker, Thinker as Thinker
from voiceagent.judgment.thought import Thought as Thought
from voiceagent.llm.model import (
    Done as Done,
    LanguageModel as LanguageModel,
    Message as Message,
    Prompt as Prompt,
    Steered as Steered,
    TextDelta as TextDelta,
    ToolCall as ToolCall,
    ToolSpec as ToolSpec,
)
from voiceagent.llm.notes import NotesModel as NotesModel
from voiceagent.llm.openai import OpenAIModel as OpenAIModel
from voiceagent.llm.scripted import (
    CannedLine as CannedLine,
    CannedModel as CannedModel,
    EchoModel as EchoModel,
    ScriptedModel as ScriptedModel,
)
from voiceagent.room.channel import Channel as Channel, ChannelOutput as ChannelOutput, RoomContext as RoomContext
from voiceagent.room.consumption.state import Consumption as Consumption
from voiceagent.room.engine import RoomEngine as RoomEngine
from voiceagent.room.events import (
    Access as Access,
    ChannelBinding as ChannelBinding,
    ChannelType as ChannelType,
    Direction as Direction,
    EventSource as EventSource,
    EventStatus as EventStatus,
    EventType as EventType,
    InboundMessage as InboundMessage,
    InboundResult as InboundResult,
    Participant as Participant,
    RecordingContent as RecordingContent,
    Role as Role,
    RoomEvent as RoomEvent,
    SystemContent as SystemContent,
    TextContent as TextContent,
    ToolCallContent as ToolCallContent,
)
from voiceagent.room.feed import Feed as Feed, FeedEvent as FeedEvent, Subscription as Subscription
from voiceagent.room.fence import fence as fence
from voiceagent.room.hooks import (
    ErrorEvent as ErrorEvent,
    HookExecution as HookExecution,
    HookOutcome as HookOutcome,
    HookResult as HookResult,
    HookTrigger as HookTrigger,
)
from voiceagent.room.memory import MemoryStore as MemoryStore
from voiceagent.room.postgres import PostgresStore as PostgresStore
from voiceagent.room.receipt import Receipt as Receipt
from voiceagent.room.reply import Reply as Reply
from voiceagent.room.sqlite import SqliteStore as SqliteStore
from voiceagent.room.store import EventFilter as EventFilter, Store as Store
from voiceagent.speech.engines import (
    SpeechToText as SpeechToText,
    TextToSpeech as TextToSpeech,
    Transcript as Transcript,
    VoiceDetector as VoiceDetector,
    Word as Word,
)
from voiceagent.transport.call import Call as Call
from voiceagent.voice.detector import (
    InterruptionDetector as InterruptionDetector,
    Overlap as Overlap,
    PhraseBackchannelDetector as PhraseBackchannelDetector,
)
from voiceagent.voice.reception import Hearing as Hearing, Reception as Reception
from voiceagent.voice.settings import (
    BargeInSettings as BargeInSettings,
    InterruptionStrategy as InterruptionStrategy,
    VoiceSettings as VoiceSettings,
)

__all__: list[str]
__version__: str
