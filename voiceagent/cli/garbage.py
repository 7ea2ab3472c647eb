"""What a command has loaded, kept out of the collector of garbage for as long as it serves."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def settled() -> Iterator[None]:
    """Enter it once all is loaded, before the first call.

    A full collection looks through every object there is, in whatever callback it falls due: of a program with its models and
    packages loaded that is 100,000 objects and 30 ms, in which no line gets its frame. What was there before is not looked at
    again until this is left.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
