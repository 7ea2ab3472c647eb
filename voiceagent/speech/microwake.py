"""Wake words by microWakeWord's networks, which the pymicro-wakeword package carries."""

from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures, Model

from voiceagent.audio.frame import Samples
from voiceagent.errors import ModelError, SpeechError
from voiceagent.speech.settings import WakePhrase


class MicroSpotter:
    """One stream's spotter of one phrase. The network looks at windows of 10 ms and remembers the ones before; the mean of its
    last five answers is set against the bar that its makers measured for it."""

    def __init__(self, phrase: WakePhrase) -> None:
        """Raises ModelError when the package lacks the phrase's network or the library that runs it."""
        try:
            self._network = MicroWakeWord.from_builtin(Model(phrase))
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelError(
                f"the wake word {phrase} cannot be loaded ({error}); run: pip install --force-reinstall pymicro-wakeword"
            ) from error
        self._features = MicroWakeWordFeatures()
        self._bar = self._network.probability_cutoff

    def hear(self, frame: Samples) -> float:
        """Its certainty in this 20 ms over its bar: above 1 the phrase has just been said. Raises SpeechError."""
        try:
            told = [self._network.process_streaming_prob(window) for window in self._features.process_streaming(frame.tobytes())]
        except Exception as error:
            raise SpeechError(f"the wake word failed: {error}") from error
        return max((certain or 0.0 for certain in told), default=0.0) / self._bar

    def close(self) -> None:
        """Lets the network go."""
        self._network.close()
