"""A classifier with scripted answers, for tests and examples."""

from collections.abc import Mapping, Sequence

from voiceagent.judgment.classifier.question import (
    Answer,
    Answers,
    ChoiceAnswer,
    ChoiceQuestion,
    ClassifierError,
    Question,
    ScoreAnswer,
    ScoreQuestion,
    State,
    YesNoAnswer,
    YesNoQuestion,
)

Scripted = float | str | Answer
Script = Mapping[str, Scripted]


class MockClassifier:
    """Answers by name from a script, or from several in order (the last one again and again).

    A number answers a yes/no or a score question, a text names an option or a level; a question that the script leaves out is
    answered no, the lowest level, or the first option. Keeps every call in `calls`.
    """

    def __init__(self, script: Script | Sequence[Script] = (), *, error: Exception | None = None) -> None:
        self._scripts: list[Script] = [script] if isinstance(script, Mapping) else list(script) or [{}]
        self._error = error
        self.calls: list[tuple[State, Mapping[str, Question]]] = []

    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        """The scripted answers. Raises `error` when one was given, ClassifierError for a script that does not fit."""
        self.calls.append((state, dict(questions)))
        if self._error is not None:
            raise self._error
        script = self._scripts[min(len(self.calls), len(self._scripts)) - 1]
        return Answers({name: _answer(name, question, script.get(name)) for name, question in questions.items()})

    async def close(self) -> None:
        """Nothing to let go of."""


def _answer(name: str, question: Question, scripted: Scripted | None) -> Answer:
    if isinstance(scripted, YesNoAnswer | ScoreAnswer | ChoiceAnswer):
        return _fitting(name, question, scripted)
    match question:
        case YesNoQuestion():
            return YesNoAnswer(_number(name, scripted))
        case ScoreQuestion(levels=levels):
            named = isinstance(scripted, str)
            return ScoreAnswer(float(levels.index(_among(name, scripted, levels))) if named else _number(name, scripted))
        case ChoiceQuestion(options=options):
            chosen = _among(name, options[0] if scripted is None else scripted, options)
            return ChoiceAnswer(chosen, {option: float(option == chosen) for option in options})


def _fitting(name: str, question: Question, answer: Answer) -> Answer:
    match question, answer:
        case (YesNoQuestion(), YesNoAnswer()) | (ScoreQuestion(), ScoreAnswer()) | (ChoiceQuestion(), ChoiceAnswer()):
            return answer
    raise ClassifierError(f"{name}: a {type(answer).__name__} does not answer a {type(question).__name__}")


def _among(name: str, scripted: object, allowed: tuple[str, ...]) -> str:
    text = str(scripted)
    if text not in allowed:
        raise ClassifierError(f"{name}: {text!r} is none of {', '.join(allowed)}")
    return text


def _number(name: str, scripted: Scripted | None) -> float:
    if scripted is None:
        return 0.0
    if not isinstance(scripted, int | float):
        raise ClassifierError(f"{name}: a number is needed, not {scripted!r}")
    return float(scripted)
