"""The answer judge that needs no model, no key and no network: by words, in the languages that are spoken in the room."""

from collections.abc import Sequence

from voiceagent.judgment.answers.asked import AskedQuestion
from voiceagent.judgment.answers.matcher import agrees, matched
from voiceagent.room.questions.aloud import Proposal
from voiceagent.room.questions.claim import Claim
from voiceagent.room.questions.question import Question


class WordsJudge:
    """An AnswerJudge by words. Of several languages the first one counts in which it finds something."""

    def __init__(self, languages: Sequence[str] = ("en",)) -> None:
        """`languages` are two-letter codes; what there are no words for is read as English."""
        self._languages = tuple(languages)

    async def judge(
        self, questions: Sequence[Question], utterance: str, *, said_last: str | None, read_back: Proposal | None
    ) -> Claim | None:
        """As AnswerJudge says. A yes to what was read back takes it; a no leaves the question as it is."""
        for language in self._languages:
            if read_back is not None and (meant := agrees(utterance, language)) is not None:
                return _confirmed(read_back) if meant else None
            asked = [_asked(question, said_last) for question in questions]
            found = matched(asked, utterance, language)
            if found is not None:
                return Claim(found.question_id, found.option, found.text, found.confidence, found.sure)
        return None


def _asked(question: Question, said_last: str | None) -> AskedQuestion:
    asking = question.asking
    return AskedQuestion(question.question_id, asking.question, asking.options, question.question_id == said_last)


def _confirmed(proposal: Proposal) -> Claim:
    return Claim(proposal.question_id, proposal.option, proposal.text, 1.0, sure=True)
