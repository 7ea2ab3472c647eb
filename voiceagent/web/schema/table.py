"""Every type of line that a reader may be sent: its data, whether it may be dropped, and who sees it."""

from dataclasses import dataclass
from typing import Final

from voiceagent.web.schema import answers, inputs, places, questions, speech
from voiceagent.web.schema.data import Data


@dataclass(frozen=True, slots=True)
class LineType:
    """One type. `note`: what it tells, where its data do not say so of themselves. `droppable`: it has no number and may be lost.
    `hosts`: only hosts are sent it. `stream`: it is no line of the room but one of the stream itself."""

    name: str
    data: type[Data]
    note: str = ""
    droppable: bool = False
    hosts: bool = False
    stream: bool = False

    @property
    def says(self) -> str:
        """What it tells, in a sentence."""
        return self.note or " ".join((self.data.__doc__ or "").split())


LINES: Final[tuple[LineType, ...]] = (
    LineType("input.started", inputs.InputStarted),
    LineType("input.partial", inputs.InputPartial, droppable=True),
    LineType("input.accepted", inputs.InputAccepted),
    LineType("input.decided", inputs.InputDecided, hosts=True),
    LineType("input.queued", inputs.InputQueued),
    LineType("input.delivered", inputs.InputDelivered),
    LineType("input.held", inputs.InputLeft, "No answer took it in; `input.settled` follows."),
    LineType("input.withdrawn", inputs.InputLeft, "It was taken back before an answer took it in; `input.settled` follows."),
    LineType("input.unknown", inputs.InputLeft, "Nobody knows whether an answer took it in; `input.settled` follows."),
    LineType("input.settled", inputs.InputSettled),
    LineType("steering.sent", inputs.Steering, "It was handed to a request while that runs."),
    LineType("steering.accepted", inputs.Steering, "The provider has it; whether it is used is not known yet."),
    LineType("steering.applied", inputs.Steering, "The provider has used it."),
    LineType("steering.failed", inputs.Steering, "The provider did not take it."),
    LineType("command.rejected", inputs.CommandRejected, hosts=True),
    LineType("generation.started", answers.GenerationStarted),
    LineType("text.delta", answers.TextDelta, droppable=True),
    LineType("assistant.message", answers.AssistantMessage),
    LineType("tool.started", answers.ToolStarted),
    LineType("tool.ended", answers.ToolEnded),
    LineType("generation.finished", answers.GenerationFinished),
    LineType("generation.failed", answers.GenerationFailed),
    LineType("generation.detached", answers.GenerationDetached),
    LineType("job.queued", answers.Job, "A tool has begun a background job."),
    LineType("job.updated", answers.JobUpdated, droppable=True),
    LineType("job.returned", answers.Job, "The job has ended, and its result is saved."),
    LineType("job.failed", answers.Job, "The job has failed."),
    LineType("job.cancel_requested", answers.Job, "Somebody asked it to stop."),
    LineType("job.cancelled", answers.Job, "It was stopped; what it had done is not undone."),
    LineType("job.recovered", answers.Job, "The program stopped while it ran; what came of it is not known."),
    LineType("job.reply", answers.JobReply),
    LineType("speech.queued", speech.SpeechQueued),
    LineType("speech.started", speech.SpeechStarted),
    LineType("speech.progress", speech.SpeechProgress, droppable=True),
    LineType("speech.finished", speech.SpeechFinished),
    LineType("speech.ducked", speech.SpeechDucked),
    LineType("speech.paused", speech.SpeechPaused),
    LineType("speech.cut", speech.SpeechCut),
    LineType("speech.resumed", speech.SpeechResumed),
    LineType("speech.dropped", speech.SpeechDropped),
    LineType("question.opened", questions.QuestionOpened),
    LineType("question.spoken", questions.QuestionSpoken),
    LineType("question.proposed", questions.QuestionProposed),
    LineType("question.ended", questions.QuestionEnded),
    LineType("consumption.updated", speech.ConsumptionUpdated),
    LineType("room.event", places.Committed),
    LineType("participant.joined", places.Person, "Somebody came."),
    LineType("participant.left", places.Person, "Somebody left."),
    LineType("participant.muted", places.Muted),
    LineType("room.listening", places.Listening, hosts=True),
    LineType("thought.updated", places.Thought, hosts=True),
    LineType("agent.state", speech.AgentState),
    LineType("turn.latency", speech.TurnLatency),
    LineType("level", speech.Level, droppable=True),
    LineType("stream.ready", places.Ready, stream=True),
    LineType("stream.gap", places.Gap, stream=True),
    LineType("stream.snapshot", places.Snapshot, stream=True),
    LineType("stream.alive", places.Alive, stream=True),
    LineType("stream.lagging", places.Lagging, stream=True),
    LineType("stream.closed", places.Closed, stream=True),
)
