"""What keeps an engine's business beside the talk: jobs, questions, what became of answers."""

from dataclasses import dataclass

from voiceagent.room.consumption.desk import ConsumptionDesk
from voiceagent.room.jobs.desk import JobDesk
from voiceagent.room.questions.desk import QuestionDesk


@dataclass(frozen=True, slots=True)
class Desks:
    """What is recovered when a room opens, and let go of when it closes."""

    jobs: JobDesk
    questions: QuestionDesk
    consumption: ConsumptionDesk
