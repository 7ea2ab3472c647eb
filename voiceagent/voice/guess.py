"""Words of unfinished speech, kept from flickering: what two guesses agreed on stays."""


def settled(before: str, now: str) -> tuple[str, int]:
    """The text to show after guess `now` followed guess `before`, and how many of its characters both agree on.

    Words agree without regard to case and punctuation, and are then kept as they were first shown. An empty guess changes
    nothing (local agreement, as in streaming recognition with whole-utterance models).
    """
    if not now:
        return before, 0
    old, new = before.split(), now.split()
    agreed = 0
    while agreed < min(len(old), len(new)) and _bare(old[agreed]) == _bare(new[agreed]):
        agreed += 1
    kept = old[: max(0, agreed - 1)] + new[max(0, agreed - 1) :]
    return " ".join(kept), len(" ".join(kept[:agreed]))


def _bare(word: str) -> str:
    return "".join(char for char in word.casefold() if char.isalnum())
