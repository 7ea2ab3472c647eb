"""What is read out of a text, as a person would read it."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voiceagent.speech.speakable import speakable
from voiceagent.speech.spelling import cardinal, decade, ordinal, year


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ""),
        ("***", ""),
        ("🎉 👍🏽", ""),
        ("```py\nprint(1)\n```", ""),
        ("```never closed", ""),
        ("**Yes**, _surely_ and `now` ~~not~~.", "Yes, surely and now not."),
        ("## Opening hours", "Opening hours"),
        ("- first\n* second\n> third", "first second third"),
        ("Read [the rules](https://x.org/a_b) first.", "Read the rules first."),
        ("| Day | Hours |\n|---|:---:|\n| Monday | late |", "Day, Hours. Monday, late."),
        ("Look:\n---\nthere", "Look: there"),
        ("Good <b>day</b><br/>to you 😀!", "Good day to you!"),
        ("See https://www.example.com/a/b?c=d#e.", "See example dot com."),
        ("Write to a.b@example.org, please.", "Write to a dot b at example dot org, please."),
        ("Hi\u202e \u200bthere\x07\ufeff.", "Hi there."),
        ("snake_case", "snake case"),
        ("[[inserted]] {x}", "inserted x"),
        ("Bread & butter", "Bread and butter"),
    ],
)
def test_marks_and_links(text: str, said: str) -> None:
    assert speakable(text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("$12.50", "twelve dollars and fifty cents"),
        ("$1 or €2 or £0.50", "one dollar or two euros or fifty pence"),
        ("$1.2 million, $5k, -$3", "one point two million dollars, five thousand dollars, minus three dollars"),
        ("12.5%", "twelve point five percent"),
        ("1,250 books", "one thousand two hundred fifty books"),
        ("-5 °C, 20°F", "minus five degrees Celsius, twenty degrees Fahrenheit"),
        ("30 km/h for 1 km, 5ft", "thirty kilometers per hour for one kilometer, five feet"),
        ("the 1st, 2nd, 12th and 21st", "the first, second, twelfth and twenty-first"),
        ("9:30 am, 9:05, 5 p.m. today", "nine thirty a m, nine oh five, five p m today"),
        ("We close at 5 pm.", "We close at five p m."),
        ("9:00-17:00", "nine o'clock to seventeen hundred"),
        ("March 5, 2026", "March fifth, twenty twenty-six"),
        ("2026-03-01 or 4 July 1999", "March first, twenty twenty-six or July fourth, nineteen ninety-nine"),
        ("in 1984 and 2005", "in nineteen eighty-four and two thousand five"),
        ("pages 5-10", "pages five to ten"),
        ("1/2, 24/7", "one half, twenty-four seven"),
        ("Call 555-0123", "Call five five five, zero one two three"),
        ("+1 (555) 010-0199", "plus one, five five five, zero one zero, zero one nine nine"),
        ("room #5, COVID-19, B12, 007", "room number five, COVID-nineteen, B twelve, zero zero seven"),
        ("version 1.2.3", "version one point two point three"),
        ("3 * 4 = 12", "three times four equals twelve"),
        ("Dr. Hart, Mrs. Low", "doctor Hart, missus Low"),
        ("e.g. maps vs. books, etc.", "for example, maps versus books, et cetera."),
        ("No. 7", "number seven"),
        ("1. Bread", "one. Bread"),
        ("20 €, 12,50 € or USD 5", "twenty euros, twelve euros and fifty cents or five dollars"),
        ("$10/hr, 5 €/kg, $3/mo", "ten dollars per hour, five euros per kilogram, three dollars per month"),
        ("50k users, $2M, 1.5M views", "fifty thousand users, two million dollars, one point five million views"),
        ("9am-5pm, Mon-Fri", "nine a m to five p m, Monday to Friday"),
        ("10.30 am or 1:30:05", "ten thirty a m or one hour, thirty minutes and five seconds"),
        ("Sun, Dec 1 and 30 Nov. 2026", "Sunday, December first and November thirtieth, twenty twenty-six"),
        ("30.11.2026, May 5-7", "November thirtieth, twenty twenty-six, May fifth to seventh"),
        ("the 1990s, the '80s, the 1900s", "the nineteen nineties, the eighties, the nineteen hundreds"),
        ("5'10\", 6 sq ft, 3 m²", "five foot ten, six square feet, three square meters"),
        (
            "9.8 m/s², 100 Mbps, 60 beats/min",
            "nine point eight meters per second squared, one hundred megabits per second, sixty beats per minute",
        ),
        ("2 oz. of milk in 5 min. or so", "two ounces of milk in five minutes or so"),
        ("5 1/2, 2½, 3/8 and 7/10", "five and one half, two and one half, three eighths and seven out of ten"),
        ("v2.1 at 192.168.0.1", "v two point one at one hundred ninety-two dot one hundred sixty-eight dot zero dot one"),
        (
            "ZIP 94105, order #12345, call 911",
            "ZIP nine four one zero five, order number one two three four five, call nine one one",
        ),
        ("room 204, flight BA 117", "room two oh four, flight BA one seventeen"),
        ("Capt. Low of Main St., ext. 12", "captain Low of Main street, extension twelve"),
        ("pp. 3-5, Fig. 2, min. 5, § 7", "pages three to five, figure two, minimum five, section seven"),
        ("won 2:1, 10th–12th, ±3", "won two to one, tenth to twelfth, plus or minus three"),
        ("5 > 3, x >= 2, 10^6", "five more than three, x at least two, ten to the power of six"),
        ("C# and node.js", "C sharp and node dot js"),
        ("Sat down. May I? It is 5 in his hand.", "Sat down. May I? It is five in his hand."),
    ],
)
def test_numbers_and_signs(text: str, said: str) -> None:
    assert speakable(text) == said


def test_other_languages_keep_their_numbers_for_the_voice() -> None:
    assert speakable("**Hola**, son 5 $ en https://www.ejemplo.es/x", "es") == "Hola, son 5 $ en ejemplo.es"


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "zero"),
        (17, "seventeen"),
        (40, "forty"),
        (110, "one hundred ten"),
        (1_000_001, "one million one"),
        (-3, "minus three"),
        (10**15, "one zero zero zero zero zero zero zero zero zero zero zero zero zero zero zero"),
    ],
)
def test_cardinals(number: int, words: str) -> None:
    assert cardinal(number) == words


def test_decades() -> None:
    said = [decade(first) for first in (1990, 2010, 1900, 2000, 80)]
    assert said == ["nineteen nineties", "twenty tens", "nineteen hundreds", "two thousands", "eighties"]


def test_ordinals_and_years() -> None:
    assert [ordinal(n) for n in (3, 8, 20, 100, 112)] == ["third", "eighth", "twentieth", "one hundredth", "one hundred twelfth"]
    assert [year(n) for n in (1066, 1900, 2000, 2026)] == [
        "ten sixty-six",
        "nineteen hundred",
        "two thousand",
        "twenty twenty-six",
    ]


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_nothing_unsayable_is_left(text: str) -> None:
    said = speakable(text)
    assert not set(said) & set("*_`#~|<>{}[]\\\n\u202e\u200b")
    assert not any("0" <= char <= "9" for char in said)
    assert said == "" or any(char.isalnum() for char in said)


@pytest.mark.parametrize(
    "unit", ["a", "*", "1", "[ ", "<a", "1,", "- ", "`", "www.", "a.b.", "| ", "1-", "(", " ", "\n", "a@", "+1 ", "---"]
)
def test_a_hundred_thousand_characters_take_no_longer_than_they_must(unit: str) -> None:
    began = time.process_time()
    speakable((unit * 100_000)[:100_000])
    assert time.process_time() - began < 2
