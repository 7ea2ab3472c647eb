"""The default classifier: the shipped questions answered on this machine, without key, network or learning at run time."""

import asyncio
import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from voiceagent.judgment.classifier.heads import answers, head_of
from voiceagent.judgment.classifier.language import asks_language, spoken_language
from voiceagent.judgment.classifier.lexical import LexicalHeads
from voiceagent.judgment.classifier.lexicon import common_words
from voiceagent.judgment.classifier.plainly import with_what_is_plain
from voiceagent.judgment.classifier.question import (
    Answer,
    Answers,
    ChoiceQuestion,
    Classifier,
    ClassifierError,
    Question,
    State,
)
from voiceagent.judgment.classifier.shipped import Shipped
from voiceagent.judgment.classifier.view import View, view

try:
    from voiceagent.judgment.classifier.encoder_heads import EncoderHeads
except ImportError:  # a machine that onnxruntime or tokenizers has no wheel for
    EncoderHeads = None  # type: ignore[assignment,misc]

log = logging.getLogger(__name__)


class Heads(Protocol):
    """Judges a view."""

    def logits(self, view: View) -> NDArray[np.float32]:
        """One row of logits."""
        ...


class EmbeddedClassifier:
    """Answers the shipped questions, and which of the listed languages is spoken, in a worker thread of its own.

    A question is known by what it asks, not by its name: a reworded or an added one goes to `fallback`, or raises
    ClassifierError naming it. Where the encoder's packages are missing it judges by the lexical heads alone, says so in the log
    and is `degraded`; `lexical` asks for that. `weights` is a folder with other weights than the package's. Closing it closes
    its thread, and leaves `fallback` to whoever made it. Raises ModelError for weights that are missing or damaged.
    """

    def __init__(self, *, fallback: Classifier | None = None, lexical: bool = False, weights: Path | None = None) -> None:
        self._fallback = fallback
        self.degraded = lexical or EncoderHeads is None
        if self.degraded and not lexical:
            log.warning("onnxruntime or tokenizers cannot be imported: turns are judged by their words alone, less well")
        shipped = Shipped(weights)
        self._heads: Heads = LexicalHeads(shipped) if self.degraded else EncoderHeads(shipped)
        self._common = common_words()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="speak")
        self._judged({"agent": {"name": "Nova"}, "people": ["A"], "last_turn": {"speaker": "A", "text": "Nova, are you there?"}})

    async def classify(self, state: State, questions: Mapping[str, Question]) -> Answers:
        """All questions in one pass. Raises ClassifierError when a question is neither shipped nor taken by `fallback`."""
        heads = {name: head_of(question) for name, question in questions.items()}
        languages = {n: q for n, q in questions.items() if isinstance(q, ChoiceQuestion) and asks_language(q)}
        others = {n: q for n, q in questions.items() if heads[n] is None and n not in languages}
        if others and self._fallback is None:
            raise ClassifierError(
                f"the embedded classifier has no answer to {', '.join(sorted(others))}: it knows the shipped wording alone; "
                "give it a fallback= classifier for questions of your own"
            )
        read = await self._in_worker(state)
        found: dict[str, Answer] = {name: read[head] for name, head in heads.items() if head is not None}
        found.update({name: spoken_language(state, question) for name, question in languages.items()})
        if others and self._fallback is not None:
            found.update(_answered(await self._fallback.classify(state, others), others))
        return Answers({name: found[name] for name in questions})

    async def close(self) -> None:
        """Ends the worker thread."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def _in_worker(self, state: State) -> Mapping[str, Answer]:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._worker, self._judged, state)
        except RuntimeError as error:
            raise ClassifierError(f"the embedded classifier cannot judge: {error}") from error

    def _judged(self, state: State) -> Mapping[str, Answer]:
        seen = view(state, self._common)
        return with_what_is_plain(answers(self._heads.logits(seen)), seen)


def _answered(given: Answers, asked: Mapping[str, Question]) -> Mapping[str, Answer]:
    """The fallback's answers by name. Raises ClassifierError when it left one out."""
    missing = [name for name in asked if name not in given]
    if missing:
        raise ClassifierError(f"the fallback classifier left out {', '.join(missing)}")
    return {name: answer for name, answer in given.all().items() if name in asked}
