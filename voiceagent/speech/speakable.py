"""Text made fit to be read out: marks nobody says are removed, numbers and signs become the words people say."""

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from voiceagent.speech.spelling import cardinal, digits, number, ordinal, year

_Say = Callable[[re.Match[str]], str]

_NUM: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_MONTH: Final = "|".join(_MONTHS)
_COINS: Final = {
    "$": ("dollar", "cent"),
    "€": ("euro", "cent"),
    "£": ("pound", "pence"),
    "¥": ("yen", ""),
    "₹": ("rupee", "paise"),
}
_SCALES: Final = {"k": "thousand", "K": "thousand", "M": "million", "B": "billion"}
_SAME_PLURAL: Final = frozenset({"yen", "pence", "paise", "hertz", "kilohertz", "megahertz", "gigahertz"})
_UNITS: Final = {
    "km/h": "kilometer per hour", "km": "kilometer", "cm": "centimeter", "mm": "millimeter", "m": "meter", "mi": "mile",
    "ft": "foot", "mph": "mile per hour", "kg": "kilogram", "mg": "milligram", "g": "gram", "lbs": "pound", "lb": "pound",
    "oz": "ounce", "ml": "milliliter", "L": "liter", "l": "liter", "ms": "millisecond", "min": "minute", "hrs": "hour",
    "hr": "hour", "h": "hour", "sec": "second", "s": "second", "KB": "kilobyte", "kB": "kilobyte", "MB": "megabyte",
    "GB": "gigabyte", "TB": "terabyte", "Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz",
    "kW": "kilowatt", "kWh": "kilowatt hour", "W": "watt", "V": "volt", "°C": "degree Celsius", "°F": "degree Fahrenheit",
    "°": "degree", "dB": "decibel",
}  # fmt: skip
_ABBREVIATIONS: Final = {
    r"Dr\.(?=\s+[A-Z])": "doctor", r"Mr\.": "mister", r"Mrs\.": "missus", r"Ms\.": "miss", r"Prof\.": "professor",
    r"St\.(?=\s+[A-Z])": "saint", r"(?<=[a-z] )St\.": "street", r"e\.g\.,?": "for example,", r"i\.e\.,?": "that is,",
    r"etc\.(?=\s+[a-z]|[,;:)])": "et cetera", r"etc\.": "et cetera.", r"vs\.?": "versus", r"approx\.": "approximately",
    r"No\.(?=\s*\d)": "number", r"Jr\.": "junior", r"Sr\.": "senior", r"Ave\.": "avenue", r"w/o": "without", r"w/": "with",
}  # fmt: skip
_SIGNS: Final = {
    "&": " and ", "@": " at ", "+": " plus ", "=": " equals ", "×": " times ", "÷": " divided by ", "≈": " about ",
    "≥": " at least ", "≤": " at most ", "≠": " is not ", "→": " to ", "½": " one half", "¼": " one quarter",
    "¾": " three quarters", "%": " percent", "…": ".", "•": " ", "/": " ", "|": ", ",
}  # fmt: skip
_NAMED_FRACTIONS: Final = {
    "1/2": "one half",
    "1/3": "one third",
    "2/3": "two thirds",
    "1/4": "one quarter",
    "3/4": "three quarters",
}

_UNSAID: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "So", "Sk"})
"""Unicode categories of characters that nobody says: controls, formats, surrogates, private, unassigned, pictures."""

_MARKS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"(?<=\d) ?\* ?(?=\d)"), " times "),
    (re.compile(r"```[^`]*(?:`{1,2}[^`]+)*(?:```|\Z)"), " "),
    (re.compile(r"`([^`\n]*)`"), r"\1"),
    (re.compile(r"!?\[([^\[\]]{0,1000})\]\([^()\s]{0,2000}(?:\s[^()]{0,500})?\)"), r"\1"),
    (re.compile(r"</?[a-zA-Z][^<>]{0,500}>"), " "),
    (re.compile(r"^(?=[^\n]*[-*_=])[ \t:|*_=-]+$", re.MULTILINE), " "),
    (re.compile(r"^[ \t]*\|(.*?)\|?[ \t]*$", re.MULTILINE), r"\1."),
    (re.compile(r"^[ \t]*(?:>[ \t]*)*(?:#{1,6}[ \t]+|[-*+•][ \t]+(?:\[[ xX]\][ \t]+)?)", re.MULTILINE), ""),
    (re.compile(r"^[ \t]*>[ \t]*", re.MULTILINE), ""),
    (re.compile(r"\*+|~~|(?<!\w)_+|_+(?!\w)"), ""),
)
_URL: Final = re.compile(
    r"(?:https?://|(?=www\.))(?:www\.)?([A-Za-z0-9.-]{1,253})(?::\d+)?(?:[/?#](?:[^\s<>\"]*[^\s<>\".,;:!?)\]])?)?"
)
_MAIL: Final = re.compile(r"\b([\w.+-]{1,64})@((?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,})\b")
_LEFT_OVER: Final = re.compile(r"[*_`#~^\\<>{}\[\]|]+")
_HOST: Final = re.compile(r"\b(?:[A-Za-z0-9-]{1,63}\.){1,4}(?:com|org|net|edu|gov|io|dev|ai|info|eu|uk|de|fr)\b")


def speakable(text: str, language: str = "en") -> str:
    """What a person would say who reads `text` out; empty when nothing of it can be said.

    Markdown marks, code blocks, emoji, control and direction characters go; a link becomes its words, a URL its host. In
    English, numbers, money, times, dates, units and common abbreviations are spelled out; in other languages they are left
    to the voice.
    """
    said = _visible(text)
    for pattern, replacement in _MARKS:
        said = pattern.sub(replacement, said)
    english = language[:2].lower() == "en"
    said = _URL.sub(lambda match: _host(match[1], english), said)
    if english:
        said = _english(said)
    said = _LEFT_OVER.sub(" ", said)
    return _tidy(said) if any(char.isalnum() for char in said) else ""


def _visible(text: str) -> str:
    """`text` without control, direction, joining and private characters, emoji and other pictures; degree signs stay."""
    return "".join(
        char if char in "\n°" else " " if char.isspace() else "" if _unsaid(char) else char
        for char in unicodedata.normalize("NFC", text)
    )


def _unsaid(char: str) -> bool:
    category = unicodedata.category(char)
    return (category in _UNSAID and char not in "`^") or 0xFE00 <= ord(char) <= 0xFE0F


def _host(host: str, english: bool) -> str:
    tail = "." if host.endswith(".") else ""
    return (host.strip(".-").replace(".", " dot ") if english else host.strip(".-")) + tail


def _english(text: str) -> str:
    text = _MAIL.sub(lambda match: f"{match[1].replace('.', ' dot ')} at {match[2].replace('.', ' dot ')}", text)
    text = _HOST.sub(lambda match: match[0].replace(".", " dot "), text)
    for pattern, say in _RULES:
        text = pattern.sub(say, text)
    for sign, word in _SIGNS.items():
        text = text.replace(sign, word)
    return text


def _tidy(text: str) -> str:
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r" +([,.;:!?)])", r"\1", text)
    text = re.sub(r"[,;:]+(?=[.!?])|(?<=[.!?,;:])[,;:]+", "", text)
    text = re.sub(r"\(\s*\)|\"\s*\"", "", text)
    return text.strip(" ,;:-–—")


def _plural(count: str, name: str) -> str:
    if count == "1" or name in _SAME_PLURAL:
        return name
    if name.startswith("foot"):
        return name.replace("foot", "feet", 1)
    head, space, rest = name.partition(" ")
    if rest in {"hour"}:
        return f"{head} hours"
    return f"{head}s{space}{rest}"


def _money(match: re.Match[str]) -> str:
    coin, small = _COINS[match[1]]
    amount, scale = match[2].replace(",", ""), match[3]
    if scale:
        return f"{number(amount)} {_SCALES.get(scale, scale.strip())} {_plural('2', coin)}"
    whole, _, part = amount.partition(".")
    cents = int(part.ljust(2, "0")[:2]) if part else 0
    if len(part) > 2 or (cents and not small):
        return f"{number(amount)} {_plural('2', coin)}"
    large = f"{number(whole)} {_plural(whole, coin)}"
    if not cents:
        return large
    minor = f"{cardinal(cents)} {'penny' if small == 'pence' and cents == 1 else _plural(str(cents), small)}"
    return minor if int(whole) == 0 else f"{large} and {minor}"


def _time(match: re.Match[str]) -> str:
    hour, minute, half = int(match[1]), int(match[2] or 0), (match[3] or "").lower()
    if half:
        return f"{cardinal(hour)}{_minutes(minute)} {half} m"
    if not minute:
        return f"{cardinal(hour)} o'clock" if 1 <= hour <= 12 else f"{cardinal(hour)} hundred"
    return f"{cardinal(hour)}{_minutes(minute)}"


def _time_of_hour(match: re.Match[str]) -> str:
    return f"{cardinal(int(match[1]))} {match[3].lower()} m"


def _minutes(minute: int) -> str:
    return "" if not minute else f" oh {cardinal(minute)}" if minute < 10 else f" {cardinal(minute)}"


def _date(month: int, day: int, year_: str | None) -> str:
    return f"{_MONTHS[month - 1]} {ordinal(day)}" + (f", {year(int(year_))}" if year_ else "")


def _numeric_date(year_: str, month: str, day: str, written: str) -> str:
    return _date(int(month), int(day), year_) if 1 <= int(month) <= 12 and 1 <= int(day) <= 31 else written


def _phone(match: re.Match[str]) -> str:
    groups = re.findall(r"\d+", match[0])
    return ("plus " if match[0].startswith("+") else "") + ", ".join(digits(group) for group in groups)


def _unit(match: re.Match[str]) -> str:
    return f"{number(match[1])} {_plural(match[1], _UNITS[match[2]])}"


def _fraction(match: re.Match[str]) -> str:
    if match[0] == "24/7":
        return "twenty-four seven"
    return _NAMED_FRACTIONS.get(match[0], f"{number(match[1])} over {number(match[2])}")


def _plain(match: re.Match[str]) -> str:
    written = match[1]
    bare_year = len(written) == 4 and written.isdigit() and 1100 <= int(written) < 2100
    said = year(int(written)) if bare_year else number(written)
    before = " " if match.start() and match.string[match.start() - 1].isalnum() else ""
    after = " " if match.end() < len(match.string) and match.string[match.end()].isalnum() else ""
    return f"{before}{said}{after}"


_UNIT_NAMES: Final = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_COIN_SIGNS: Final = "".join(re.escape(sign) for sign in _COINS)

_RULES: Final[tuple[tuple[re.Pattern[str], _Say], ...]] = (
    *((re.compile(rf"(?<!\w){pattern}"), lambda _match, word=word: word) for pattern, word in _ABBREVIATIONS.items()),
    (
        re.compile(r"(?<![\d.,])\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}(?!\d)|(?<![\d.,])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?!\d)"),
        _phone,
    ),
    (re.compile(r"(?<![\d.])\d{3}-\d{4}(?![\d-])"), _phone),
    (re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)"), lambda m: _numeric_date(m[1], m[2], m[3], m[0])),
    (re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?![\d/])"), lambda m: _numeric_date(m[3], m[1], m[2], m[0])),
    (
        re.compile(rf"\b({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?(?:,? (\d{{4}}))?(?![\d,]*\d)"),
        lambda m: _date(_MONTHS.index(m[1]) + 1, int(m[2]), m[3]),
    ),
    (
        re.compile(rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th)? ({_MONTH})(?: (\d{{4}}))?\b"),
        lambda m: _date(_MONTHS.index(m[2]) + 1, int(m[1]), m[3]),
    ),
    (re.compile(r"(?<=\d)\s?[-–]\s?(?=\d{1,2}:\d{2})"), lambda _match: " to "),
    (re.compile(r"(?<![\w).])[-−](?=[$€£¥₹]?\d)"), lambda _match: "minus "),
    (re.compile(r"(?<![\d:])(\d{1,2}):(\d{2})(?:\s?([aApP])\.?[mM]\b\.?)?(?![\d:])"), _time),
    (
        re.compile(r"(?<![\d:.,])(\d{1,2})(\b|(?=\s?[aApP]))\s?([aApP])\.?[mM]\b(?:\.(?!\s+[A-Z]|\s*$))?"),
        _time_of_hour,
    ),
    (re.compile(rf"([{_COIN_SIGNS}])\s?({_NUM})(\s(?:thousand|million|billion|trillion)\b|[kKMB]\b)?"), _money),
    (re.compile(rf"(?<![\w.,-])({_NUM})(?:\s?[-–]\s?)(?={_NUM})"), lambda m: f"{number(m[1])} to "),
    (re.compile(rf"(?<![\d,.])({_NUM})\s?%"), lambda m: f"{number(m[1])} percent"),
    (re.compile(r"\b(\d{1,3}(?:,\d{3})+|\d{1,9})(?:st|nd|rd|th)\b"), lambda m: ordinal(int(m[1].replace(",", "")))),
    (re.compile(rf"(?<![\w.])({_NUM})\s?({_UNIT_NAMES})(?![\w/°])"), _unit),
    (re.compile(r"(?<![\d/.])(\d{1,3})/(\d{1,3})(?![\d/])"), _fraction),
    (re.compile(r"(?<![\w.])\.(?=\d)"), lambda _match: "point "),
    (re.compile(r"#(?=\d)"), lambda _match: "number "),
    (re.compile(r"~(?=\d)"), lambda _match: "about "),
    (re.compile(r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)*)"), _plain),
)
