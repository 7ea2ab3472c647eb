"""The kind of answer that a question's shape asks for, and whether a fact holds one: money, a moment, a person. Pure."""

import re
from enum import Enum


class Wants(Enum):
    """The kind of answer that a question's shape asks for."""

    ANYTHING = "anything"
    MONEY = "money"
    MOMENT = "moment"
    DURATION = "duration"
    MEASURE = "measure"
    WARMTH = "warmth"
    COUNT = "count"
    AGE = "age"
    PERSON = "person"
    CONTACT = "contact"
    PLACE = "place"


_ASKS = (
    (Wants.AGE, re.compile(r"\bhow old\b(?! (do|must|should|does))|\bwhen (was|were) .*\b(built|founded|opened|started|made)\b")),
    (Wants.WARMTH, re.compile(r"\bhow (hot|warm|cold|cool)\b|\btemperature\b")),
    (Wants.MEASURE, re.compile(r"\bhow (deep|high|tall|wide|big|large|heavy|far)\b")),
    (Wants.DURATION, re.compile(r"\bhow (long|soon|quickly|fast)\b|\bhow (much|many) (time|hours|days|weeks|months|minutes)\b")),
    (
        Wants.MONEY,
        re.compile(r"\bhow much\b|\b(costs?|prices?|fees?|expensive)\b|\byou charge\b|\bwhat (do|does|would|will) .*\bpay\b"),
    ),
    (Wants.COUNT, re.compile(r"\bhow many\b")),
    (
        Wants.CONTACT,
        re.compile(r"\b(phone|telephone|e-?mail|email|mail) (number|address)\b|\byour (number|e-?mail|email|phone)\b"),
    ),
    (
        Wants.MOMENT,
        re.compile(
            r"(^|[,.?!] |\b(and|know|me|wonder|till|until|since|so) )when\b|\b(what|which) (time|day|days|hours)\b|"
            r"\b(what|which) are (your|the) (\w+ )?(hours|times)\b|\bhow (late|early)\b"
        ),
    ),
    (Wants.PERSON, re.compile(r"(^|[,.?!] |\band )(who|whose)\b|\bwhat(?:'s| is) the name of\b")),
    (Wants.PLACE, re.compile(r"\bwhere\b|\baddress\b|\blocated\b|\blocation\b|\bfind you\b|\bget to you\b")),
)
_WORDED = (
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|eighteen|twenty|thirty|forty|fifty|sixty|hundred"
)
_NUMBER = rf"(\d+|{_WORDED})"
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_TIME_UNIT = r"(minutes?|hours?|days?|weeks?|months?|years?)"
_LENGTH_UNIT = (
    r"(centi|kilo|milli)?(metres?|meters?)|feet|foot|inch(es)?|miles?|yards?|km|cm|acres?|kilos?|kilograms?|pounds?|square"
)
_GIVES = {
    Wants.MONEY: re.compile(
        r"\b(dollars?|cents?|euros?|pounds?|pence|free|charge|pays?|costs?|price|nothing)\b|[$\u20ac\u00a3%]|percent|"
        r"\ba (fifth|third|quarter) off"
    ),
    Wants.MOMENT: re.compile(
        r"(mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(every|any|all) (day|hour|year)\b|"
        r"morning|afternoon|evening|noon|midnight|night|"
        rf"o'clock|\b(at|from|until|till|by|past|to|before|after|between|and|since) ({_NUMBER})\b|\b\d* ?[ap]\.?m\b|"
        rf"\b({_MONTHS})\b|\b(weeks?|months?|weekends?|weekdays?|daily|summer|winter|spring|autumn|fall|holidays?|christmas)\b|"
        rf"\b{_NUMBER} {_TIME_UNIT}\b|\bonce\b|\bround the clock|\baround the clock"
    ),
    Wants.DURATION: re.compile(
        rf"{_TIME_UNIT}\b|\bwait\b|\bfor (ever|life)\b|\bnever\b|\bpace\b|{_LENGTH_UNIT}|\buntil\b|\bfrom .* to\b"
    ),
    Wants.MEASURE: re.compile(rf"\b({_LENGTH_UNIT})\b|{_NUMBER} (seats?|people|persons|minutes?|hours?)|\bwalk\b"),
    Wants.WARMTH: re.compile(r"\bdegrees?\b|\u00b0|\b(warm|hot|cold|cool|heated|unheated|freezing)\b"),
    Wants.COUNT: re.compile(
        rf"\b{_NUMBER}\b(?! (in|at|until|till|to|o'clock|and|dollars?|cents?|minutes?|hours?|days?|weeks?|months?)\b)|"
        r"\b(no|none|once|twice|one|single)\b"
    ),
    Wants.AGE: re.compile(r"\b(years?|since|1[5-9]\d\d|20\d\d|old|founded|built)\b"),
    Wants.CONTACT: re.compile(r"\d{2,}[ -]?\d{2,}|\S@\S|\bdot\b|\b(telephone|phone|e-?mail)\b"),
    Wants.PLACE: re.compile(
        r"\b(street|lane|road|avenue|square|floor|behind|beside|between|next to|across|opposite|under|near|in front|outside|"
        r"inside|upstairs|downstairs|left|right|corner|room|lobby|hall|desk|counter|entrance|building|cellar|basement|yard|website|online)\b|"
        r"\bat \d|\b(in|on|at|by) (the|a|our|every|room)\b"
    ),
}
_NAMED = re.compile(
    r"\b(Mr|Mrs|Ms|Miss|Dr|Nurse|Professor|Sir)\b|[a-z,] [A-Z][a-z]+ [A-Z]\w+|^[A-Z][a-z]+ [A-Z][a-z]+|"
    r"\b(is|by|ask|for|are) [A-Z][a-z]+|"
    r"\b(owner|manager|staff|team|volunteers?|police|parents|members|guests|trainers?|teachers?|doctors?|somebody|everybody|nobody)\b|"
    r"\d{3}"
)


def wants(question: str) -> Wants:
    """What kind of answer the question's shape asks for."""
    lowered = question.lower().replace("\u2019", "'")
    return next((kind for kind, shape in _ASKS if shape.search(lowered)), Wants.ANYTHING)


def gives(text: str, kind: Wants) -> bool:
    """Whether a fact holds an answer of that kind at all."""
    if kind is Wants.PERSON:
        return _NAMED.search(text) is not None
    shape = _GIVES.get(kind)
    return shape is None or shape.search(text.lower()) is not None
