"""Everything that was seen in one process, as the file that it leaves."""

import json
import platform
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.peers.trials import Over, Wait


@dataclass(frozen=True, slots=True)
class Crowd:
    """Several calls at once: how long people waited (ms), and the CPU seconds a second of the whole process."""

    calls: int
    turns: int
    unanswered: int
    p50_ms: float | None
    p95_ms: float | None
    cpu: float
    late_p99_ms: float


@dataclass(slots=True)
class Result:
    """One run of one system with one setting. CPU is in seconds a second of call, memory in MB, `late_p99_ms` how late the
    driver's own frames came."""

    system: str
    setting: str
    version: str
    python: str = field(default_factory=platform.python_version)
    import_s: float = 0.0
    idle_cpu: float = 0.0
    talk_cpu: float = 0.0
    over_cpu: float = 0.0
    rss_loaded_mb: float = 0.0
    rss_end_mb: float = 0.0
    rss_peak_mb: float = 0.0
    late_p99_ms: float = 0.0
    load: float = 0.0
    waits: list[Wait] = field(default_factory=list)
    notes: list[Wait] = field(default_factory=list)
    pauses: list[Wait] = field(default_factory=list)
    barge: list[Over] = field(default_factory=list)
    noises: list[Over] = field(default_factory=list)
    murmurs: list[Over] = field(default_factory=list)
    crowd: list[Crowd] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Keeps it."""
        path.write_text(json.dumps(asdict(self), indent=1))

    @classmethod
    def read(cls, path: Path) -> "Result":
        """Reads it. Raises ValueError, KeyError or TypeError where it is none."""
        values = json.loads(path.read_text())
        for name in ("waits", "notes", "pauses"):
            values[name] = [Wait(**wait) for wait in values[name]]
        for name in ("barge", "noises", "murmurs"):
            values[name] = [Over(**over) for over in values[name]]
        return cls(**{**values, "crowd": [Crowd(**crowd) for crowd in values["crowd"]]})
