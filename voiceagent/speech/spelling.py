"""Numbers as English says them."""

from typing import Final

_SMALL: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = (
    "zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
)  # fmt: skip
_SCALES: Final = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"), (1000, "thousand"))
_ODD_ORDINALS: Final = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_LARGEST: Final = 10**15
_LONGEST_NUMBER: Final = 15


def cardinal(number: int) -> str:
    """117 -> "one hundred seventeen"; from a quadrillion on, digit by digit."""
    if number < 0:
        return f"minus {cardinal(-number)}"
    if number >= _LARGEST:
        return digits(str(number))
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return f"{_TENS[tens]}-{_SMALL[ones]}" if ones else _TENS[tens]
    if number < 1000:
        return _with_rest(f"{_SMALL[number // 100]} hundred", number % 100)
    scale, name = next((scale, name) for scale, name in _SCALES if number >= scale)
    return _with_rest(f"{cardinal(number // scale)} {name}", number % scale)


def ordinal(number: int) -> str:
    """21 -> "twenty-first"."""
    words = cardinal(number)
    cut = max(words.rfind(" "), words.rfind("-")) + 1
    head, last = words[:cut], words[cut:]
    if last in _ODD_ORDINALS:
        return head + _ODD_ORDINALS[last]
    return head + (f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th")


def digits(text: str) -> str:
    """The digits of `text`, one by one: "407" -> "four zero seven"."""
    return " ".join(_SMALL[int(char)] for char in text if "0" <= char <= "9")


def number(text: str) -> str:
    """A written number without sign, such as "1,250" or "3.07", in words; long ones and codes ("007") digit by digit."""
    whole, *parts = text.replace(",", "").split(".")
    if len(whole) > _LONGEST_NUMBER or (len(whole) > 1 and whole.startswith("0")):
        said = digits(whole)
    else:
        said = cardinal(int(whole or "0"))
    if len(parts) == 1:
        return f"{said} point {digits(parts[0])}"
    return " point ".join((said, *(number(part) for part in parts)))


def year(number_: int) -> str:
    """1984 -> "nineteen eighty-four", 2005 -> "two thousand five", 1900 -> "nineteen hundred"."""
    century, rest = divmod(number_, 100)
    if number_ // 10 == 200 or not 10 <= century <= 99:
        return cardinal(number_)
    if not rest:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"


def decade(first: int) -> str:
    """The ten years from `first` on: 1990 -> "nineteen nineties", 90 -> "nineties", 2000 -> "two thousands"."""
    century, tens = divmod(first, 100)
    if not tens:
        return "two thousands" if first == 2000 else f"{cardinal(century)} hundreds"
    name = _TENS[tens // 10]
    plural = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    return f"{cardinal(century)} {plural}" if century else plural


def _with_rest(head: str, rest: int) -> str:
    return f"{head} {cardinal(rest)}" if rest else head
