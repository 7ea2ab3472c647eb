"""Units and coins as English says them, one and many."""

from typing import Final

COINS: Final = {
    "$": ("dollar", "cent"),
    "€": ("euro", "cent"),
    "£": ("pound", "pence"),
    "¥": ("yen", ""),
    "₹": ("rupee", "paise"),
}
CODES: Final = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹"}

UNITS: Final = {
    "km/h": "kilometer per hour", "km": "kilometer", "cm": "centimeter", "mm": "millimeter", "m": "meter", "mi": "mile",
    "ft": "foot", "mph": "mile per hour", "kg": "kilogram", "mg": "milligram", "g": "gram", "lbs": "pound", "lb": "pound",
    "oz": "ounce", "ml": "milliliter", "L": "liter", "l": "liter", "ms": "millisecond", "min": "minute", "mins": "minute",
    "hrs": "hour", "hr": "hour", "h": "hour", "sec": "second", "secs": "second", "s": "second", "yr": "year", "yrs": "year",
    "wk": "week", "wks": "week", "KB": "kilobyte", "kB": "kilobyte", "MB": "megabyte", "GB": "gigabyte", "TB": "terabyte",
    "Mbps": "megabit per second", "Gbps": "gigabit per second", "kbps": "kilobit per second", "Mbit": "megabit",
    "Gbit": "gigabit", "Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz", "kW": "kilowatt",
    "kWh": "kilowatt hour", "W": "watt", "V": "volt", "mAh": "milliamp hour", "°C": "degree Celsius",
    "°F": "degree Fahrenheit", "°": "degree", "dB": "decibel", "m²": "square meter", "m2": "square meter",
    "km²": "square kilometer", "km2": "square kilometer", "ft²": "square foot", "sq ft": "square foot", "sqft": "square foot",
    "sq m": "square meter", "sqm": "square meter", "m³": "cubic meter", "m3": "cubic meter", "cm³": "cubic centimeter",
    "m/s²": "meter per second squared", "m/s": "meter per second", "in.": "inch", "gal": "gallon", "tsp": "teaspoon",
    "tbsp": "tablespoon", "kcal": "kilocalorie", "cal": "calorie", "rpm": "revolution per minute", "px": "pixel",
}  # fmt: skip
"""By how they are written behind a number."""

PER: Final = {
    "mo": "month", "month": "month", "hr": "hour", "h": "hour", "hour": "hour", "day": "day", "week": "week", "wk": "week",
    "year": "year", "yr": "year", "kg": "kilogram", "lb": "pound", "g": "gram", "l": "liter", "L": "liter", "night": "night",
    "person": "person", "user": "user", "min": "minute", "minute": "minute", "s": "second", "sec": "second",
    "second": "second", "unit": "unit", "item": "item", "page": "page",
}  # fmt: skip
"""What an amount may be for, behind a stroke."""

_SAME_PLURAL: Final = frozenset({"yen", "pence", "paise", "hertz", "kilohertz", "megahertz", "gigahertz"})
_COMPOUND: Final = frozenset({"square", "cubic", "kilowatt", "milliamp"})
_ODD: Final = {"foot": "feet", "inch": "inches"}


def counted(count: str, name: str) -> str:
    """`name` as it stands behind a written number: "1" meter, "2" square meters, "5" miles per hour."""
    if count == "1" or name in _SAME_PLURAL:
        return name
    head, space, rest = name.partition(" ")
    if head in _COMPOUND and rest:
        return f"{head} {counted(count, rest)}"
    return f"{_ODD.get(head, head + 's')}{space}{rest}"
