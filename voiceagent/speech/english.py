"""Numbers, money, times, dates, units and abbreviations as English says them."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from voiceagent.speech.spelling import cardinal, decade, digits, number, ordinal, year
from voiceagent.speech.units import CODES, COINS, PER, UNITS, counted

_Say = Callable[[re.Match[str]], str]

_NUM: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_MONTH: Final = "|".join(_MONTHS)
_SHORT_MONTHS: Final = {month[:3]: month for month in _MONTHS} | {"Sept": "September"}
_SHORT_DAYS: Final = {
    "Mon": "Monday", "Tue": "Tuesday", "Tues": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Thur": "Thursday",
    "Thurs": "Thursday", "Fri": "Friday", "Sat": "Saturday", "Sun": "Sunday",
}  # fmt: skip
_SCALES: Final = {"k": "thousand", "K": "thousand", "M": "million", "B": "billion", "bn": "billion"}
_ABBREVIATIONS: Final = {
    r"Dr\.(?=\s+[A-Z])": "doctor", r"Mr\.": "mister", r"Mrs\.": "missus", r"Ms\.": "miss", r"Prof\.": "professor",
    r"St\.(?=\s+[A-Z])": "saint", r"(?<=[a-z] )St\.": "street", r"e\.g\.,?": "for example,", r"i\.e\.,?": "that is,",
    r"etc\.(?=\s+[a-z]|[,;:)])": "et cetera", r"etc\.": "et cetera.", r"vs\.?": "versus", r"approx\.": "approximately",
    r"No\.(?=\s*\d)": "number", r"Nos\.(?=\s*\d)": "numbers", r"Jr\.": "junior", r"Sr\.": "senior", r"Ave\.": "avenue",
    r"(?<=[a-z] )Rd\.": "road", r"Blvd\.": "boulevard", r"Mt\.(?=\s+[A-Z])": "mount", r"Rev\.(?=\s+[A-Z])": "reverend",
    r"Capt\.(?=\s+[A-Z])": "captain", r"Gov\.(?=\s+[A-Z])": "governor", r"Gen\.(?=\s+[A-Z])": "general",
    r"Lt\.(?=\s+[A-Z])": "lieutenant", r"Sgt\.(?=\s+[A-Z])": "sergeant", r"Col\.(?=\s+[A-Z])": "colonel",
    r"Sen\.(?=\s+[A-Z])": "senator", r"Ltd\.": "limited", r"Dept\.": "department", r"dept\.": "department",
    r"a\.k\.a\.": "also known as", r"p\.(?=\s*\d)": "page", r"pp\.(?=\s*\d)": "pages", r"[Ff]ig\.(?=\s*\d)": "figure",
    r"[Vv]ol\.(?=\s*\d)": "volume", r"[Cc]h\.(?=\s*\d)": "chapter", r"[Mm]in\.(?=\s*\d)": "minimum",
    r"[Mm]ax\.(?=\s*\d)": "maximum", r"[Tt]el\.:?": "telephone", r"[Ee]xt\.(?=\s*\d)": "extension", r"w/o": "without",
    r"w/": "with",
}  # fmt: skip
_SIGNS: Final = {
    "&": " and ", "@": " at ", "+": " plus ", "=": " equals ", "×": " times ", "÷": " divided by ", "≈": " about ",
    "≥": " at least ", "≤": " at most ", "≠": " is not ", "→": " to ", "½": " one half", "¼": " one quarter",
    "¾": " three quarters", "%": " percent", "…": ".", "•": " ", "/": " ", "|": ", ", "±": " plus or minus ",
    "§": " section ",
}  # fmt: skip
_FRACTIONS: Final = {"½": "one half", "¼": "one quarter", "¾": "three quarters"}
_NAMED_FRACTIONS: Final = {
    "1/2": "one half", "1/3": "one third", "2/3": "two thirds", "1/4": "one quarter", "3/4": "three quarters",
    "24/7": "twenty-four seven", "50/50": "fifty fifty", "9/11": "nine eleven",
}  # fmt: skip
_MAIL: Final = re.compile(r"\b([\w.+-]{1,64})@((?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,})\b")
_HOST: Final = re.compile(r"\b(?:[A-Za-z0-9-]{1,63}\.){1,4}(?:com|org|net|edu|gov|io|dev|ai|info|eu|uk|de|fr)\b")


def dotted(host: str) -> str:
    """A host's name: its dots are said."""
    return host.replace(".", " dot ")


def english(text: str) -> str:
    """`text` with everything spelled out that has letters or figures of its own; marks that nobody says may be left."""
    text = _MAIL.sub(lambda match: f"{dotted(match[1])} at {dotted(match[2])}", text.replace("⁄", "/"))
    text = _HOST.sub(lambda match: dotted(match[0]), text)
    for pattern, say in _NAMES:
        text = pattern.sub(say, text)
    if any(char.isdigit() for char in text):
        for pattern, say in _NUMBERS:
            text = pattern.sub(say, text)
    for sign, word in _SIGNS.items():
        text = text.replace(sign, word)
    return text


def _money(match: re.Match[str]) -> str:
    return _amount(match[1], match[2], match[3])


def _money_behind(match: re.Match[str]) -> str:
    """Written behind the amount, cents may have a comma before them."""
    return _amount(CODES.get(match[2], match[2]), re.sub(r",(?=\d{1,2}$)", ".", match[1]), None)


def _amount(sign: str, written: str, scale: str | None) -> str:
    coin, small = COINS[sign]
    amount = written.replace(",", "")
    if scale:
        return f"{number(amount)} {_SCALES.get(scale, scale.strip())} {counted('2', coin)}"
    whole, _, part = amount.partition(".")
    cents = int(part.ljust(2, "0")[:2]) if part else 0
    if len(part) > 2 or (cents and not small):
        return f"{number(amount)} {counted('2', coin)}"
    large = f"{number(whole)} {counted(whole, coin)}"
    if not cents:
        return large
    minor = f"{cardinal(cents)} {'penny' if small == 'pence' and cents == 1 else counted(str(cents), small)}"
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


def _duration(match: re.Match[str]) -> str:
    parts = zip((int(match[1]), int(match[2]), int(match[3])), ("hour", "minute", "second"), strict=True)
    said = [f"{cardinal(count)} {counted(str(count), name)}" for count, name in parts if count]
    return " and ".join((", ".join(said[:-1]), said[-1])) if len(said) > 1 else (said or ["zero"])[0]


def _date(month: int, day: int, year_: str | None) -> str:
    return f"{_MONTHS[month - 1]} {ordinal(day)}" + (f", {year(int(year_))}" if year_ else "")


def _numeric_date(year_: str, month: str, day: str, written: str) -> str:
    return _date(int(month), int(day), year_) if 1 <= int(month) <= 12 and 1 <= int(day) <= 31 else written


def _phone(match: re.Match[str]) -> str:
    groups = re.findall(r"\d+", match[0])
    return ("plus " if match[0].startswith("+") else "") + ", ".join(digits(group) for group in groups)


def _unit(match: re.Match[str]) -> str:
    return f"{number(match[1])} {counted(match[1], UNITS[match[2]])}"


def _fraction(match: re.Match[str]) -> str:
    if match[0] in _NAMED_FRACTIONS:
        return _NAMED_FRACTIONS[match[0]]
    top, bottom = int(match[1]), int(match[2])
    if bottom in (10, 100):
        return f"{cardinal(top)} out of {cardinal(bottom)}"
    if 0 < top < bottom <= 20 and bottom > 2:
        return f"{cardinal(top)} {ordinal(bottom)}{'s' if top > 1 else ''}"
    return f"{number(match[1])} over {number(match[2])}"


def _mixed(match: re.Match[str]) -> str:
    part = match[2]
    said = _FRACTIONS.get(part) or _NAMED_FRACTIONS.get(part) or part
    return f"{number(match[1])} and {said}"


def _door(match: re.Match[str]) -> str:
    """Three figures of a room or a flight: "two oh four", "one seventeen", "two hundred"."""
    first, rest = int(match[2][0]), int(match[2][1:])
    return f"{match[1]}{cardinal(first)} {'hundred' if not rest else _minutes(rest).strip()}"


def _plain(match: re.Match[str]) -> str:
    written = match[1]
    bare_year = len(written) == 4 and written.isdigit() and 1100 <= int(written) < 2100
    said = year(int(written)) if bare_year else number(written)
    before = " " if match.start() and match.string[match.start() - 1].isalnum() else ""
    after = " " if match.end() < len(match.string) and match.string[match.end()].isalnum() else ""
    return f"{before}{said}{after}"


def _any(names: Mapping[str, object]) -> str:
    """A pattern for any of these, the longest first."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_WRITTEN_OUT: Final = tuple(_ABBREVIATIONS.values())
_COIN_SIGNS: Final = "".join(re.escape(sign) for sign in COINS)

_LETTERS: Final[tuple[tuple[str, _Say], ...]] = (
    (rf"(?<!\w)(?:{'|'.join(f'({pattern})' for pattern in _ABBREVIATIONS)})", lambda m: _WRITTEN_OUT[(m.lastindex or 1) - 1]),
    (rf"\b({_any(_SHORT_DAYS)})\.?\s?[-–]\s?({_any(_SHORT_DAYS)})\b\.?", lambda m: f"{_SHORT_DAYS[m[1]]} to {_SHORT_DAYS[m[2]]}"),
    (rf"\b({_any(_SHORT_DAYS)})\b\.?(?=,? (?:{_any(_SHORT_MONTHS)}|\d))", lambda m: _SHORT_DAYS[m[1]]),
    (rf"\b({_any(_SHORT_MONTHS)})\b\.?(?= \d)", lambda m: _SHORT_MONTHS[m[1]]),
    (rf"(?<=\d )({_any(_SHORT_MONTHS)})\b\.?", lambda m: _SHORT_MONTHS[m[1]]),
    (r"(?<=\w)\.(?=(?:js|txt|pdf|py|md|json|html|csv|docx?|xlsx?|png|jpe?g|mp3|zip|exe)\b)", lambda _match: " dot "),
    (r"(?<=\bC)#(?!\w)", lambda _match: " sharp"),
)
_FIGURES: Final[tuple[tuple[str, _Say], ...]] = (
    (r"(?<![\d.,])\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,5}(?!\d)|(?<![\d.,])\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?!\d)", _phone),
    (r"(?<![\d.])\d{3}-\d{4}(?![\d-])", _phone),
    (r"\b((?:[Cc]all|[Dd]ial|[Tt]ext) )(\d{3,})\b", lambda m: m[1] + digits(m[2])),
    (r"\b((?:PIN|ZIP|zip|[Cc]ode|[Ee]xtension|[Aa]ccount|[Oo]rder|[Tt]icket) (?:code |number )?#?)(\d{4,})\b(?![.,:/-]\d)",
     lambda m: m[1].replace("#", "number ") + digits(m[2])),
    (r"\b((?:[Rr]oom|[Ff]light|[Ss]uite|[Aa]partment|[Hh]ighway) (?:[A-Z]{2} )?)(\d{3})\b(?![.,:/-]\d)", _door),
    (r"(?<![\w.])(\d{1,3}(?:\.\d{1,3}){3})(?![\w.]\d)", lambda m: " dot ".join(number(part) for part in m[1].split("."))),
)  # fmt: skip
_DATES: Final[tuple[tuple[str, _Say], ...]] = (
    (r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)", lambda m: _numeric_date(m[1], m[2], m[3], m[0])),
    (r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?![\d/])", lambda m: _numeric_date(m[3], m[1], m[2], m[0])),
    (r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.(\d{4})(?!\.?\d)", lambda m: _numeric_date(m[3], m[2], m[1], m[0])),
    (rf"\b({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?\s?[-–]\s?(\d{{1,2}})(?:st|nd|rd|th)?(?![\d:,/-]*\d)",
     lambda m: f"{m[1]} {ordinal(int(m[2]))} to {ordinal(int(m[3]))}"),
    (rf"\b({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?(?:,? (\d{{4}}))?(?![\d,]*\d)",
     lambda m: _date(_MONTHS.index(m[1]) + 1, int(m[2]), m[3])),
    (rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th)? ({_MONTH})(?: (\d{{4}}))?\b",
     lambda m: _date(_MONTHS.index(m[2]) + 1, int(m[1]), m[3])),
    (r"(?<!\d)(?<!\d[.,:])(1\d|20)(\d)0s\b", lambda m: decade(int(m[1] + m[2] + "0"))),
    (r"['’](\d)0s\b", lambda m: decade(int(m[1] + "0"))),
)  # fmt: skip
_TIMES: Final[tuple[tuple[str, _Say], ...]] = (
    (r"(?<=\d)\s?[-–]\s?(?=\d{1,2}:\d{2})", lambda _match: " to "),
    (r"(\d\s?[aApP]\.?[mM]\.?)\s?[-–]\s?(?=\d)", lambda m: f"{m[1]} to "),
    (r"(\d(?:st|nd|rd|th))\s?[-–]\s?(?=\d)", lambda m: f"{m[1]} to "),
    (r"(?<![\w).])[-−](?=[$€£¥₹]?\d)", lambda _match: "minus "),
    (r"(?<![\d:])(\d{1,2}):(\d{2}):(\d{2})(?![\d:])", _duration),
    (r"(?<![\d:.])(\d{1,2})\.(\d{2})\s?([aApP])\.?[mM]\b\.?", _time),
    (r"(?<![\d:])(\d{1,2}):(\d{2})(?:\s?([aApP])\.?[mM]\b\.?)?(?![\d:])", _time),
    (r"(?<![\d:])(\d+):(\d)(?![\d:])", lambda m: f"{number(m[1])} to {number(m[2])}"),
    (r"(?<![\d:.,])(\d{1,2})(\b|(?=\s?[aApP]))\s?([aApP])\.?[mM]\b(?:\.(?!\s+[A-Z]|\s*$))?", _time_of_hour),
)  # fmt: skip
_AMOUNTS: Final[tuple[tuple[str, _Say], ...]] = (
    (rf"([{_COIN_SIGNS}])\s?({_NUM})(\s(?:thousand|million|billion|trillion)\b|(?:[kKMB]|bn)\b)?", _money),
    (rf"(?<![\w.,])(\d+,\d{{2}}(?!\d)|{_NUM})\s?([{_COIN_SIGNS}]|(?:{_any(CODES)})\b)(?!\s?\d)", _money_behind),
    (rf"\b({_any(CODES)})\s?({_NUM})", lambda m: _amount(CODES[m[1]], m[2], None)),
    (r"(?<![\w.])(\d{1,2})['′]\s?(\d{1,2})(?:[\"″”]|\b)", lambda m: f"{number(m[1])} foot {number(m[2])}"),
    (r"(?<![\d/.,])(\d+)(?:\s?(?=[½¼¾])|\s+(?=[123]/[234](?![\d/])))([½¼¾]|[123]/[234])", _mixed),
    (rf"(?<![\w.,-])({_NUM})(?:\s?[-–]\s?)(?={_NUM})", lambda m: f"{number(m[1])} to "),
    (rf"(?<![\d,.])({_NUM})\s?%", lambda m: f"{number(m[1])} percent"),
    (r"\b(\d{1,3}(?:,\d{3})+|\d{1,9})(?:st|nd|rd|th)\b", lambda m: ordinal(int(m[1].replace(",", "")))),
    (rf"(?<![\w.,])({_NUM})(k|M|bn)\b", lambda m: f"{number(m[1])} {_SCALES[m[2]]}"),
    (rf"(?<![\w.])({_NUM})\s?({_any(UNITS)})(?![\w/°²³])(?:\.(?=\s+[a-z]))?", _unit),
    (rf"(?<![\w.])({_NUM})\s?({_any(UNITS)})(?=/(?:{_any(PER)})\b)", _unit),
    (rf"(?<=[a-z])/({_any(PER)})\b(?<=\w\w)", lambda m: f" per {PER[m[1]]}"),
    (r"((?:[a-z]s?|\d) ?)/(kg|h|s|l|L|g)\b", lambda m: f"{m[1].rstrip()} per {PER[m[2]]}"),
    (r"(?<![\d/.])(\d{1,3})/(\d{1,3})(?![\d/])", _fraction),
    (r"(?<=\d)\^(?=\d)", lambda _match: " to the power of "),
    (r"[<>]=(?=\s?\d)", lambda m: " at least " if m[0] == ">=" else " at most "),
    (r"(?<=\s)([<>])(?=\s?\d)", lambda m: " more than " if m[1] == ">" else " less than "),
    (r"(?<![\w.])\.(?=\d)", lambda _match: "point "),
    (r"#(?=\d)", lambda _match: "number "),
    (r"~(?=\d)", lambda _match: "about "),
    (r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)*)", _plain),
)  # fmt: skip
_NAMES: Final = tuple((re.compile(pattern), say) for pattern, say in _LETTERS)
_NUMBERS: Final = tuple((re.compile(pattern), say) for pattern, say in (*_FIGURES, *_DATES, *_TIMES, *_AMOUNTS))
