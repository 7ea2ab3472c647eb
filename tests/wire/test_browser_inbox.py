"""The inbox in a real browser: counted, listed, answered on two devices, by keyboard; whatever is written in it stays text."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.wire.asked import Asked, asked
from tests.wire.browser import Visitor, visiting
from voiceagent.room.events import Participant
from voiceagent.room.questions.question import Answer
from voiceagent.room.register.entry import RoomEntry, Starter

DESK: dict[str, Any] = {"viewport": {"width": 1100, "height": 800}}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 780}, "has_touch": True, "is_mobile": True}
CARD = "#inbox .asked"
FOCUSED = "document.activeElement.closest('.asked')?.querySelector('.question').textContent ?? document.activeElement.id"

EVIL = (
    "<img src=x onerror=\"document.title='taken'\">",
    "<script>document.title='taken'</script>",
    "https://evil.example/ javascript:alert(1) [a](https://evil.example)",
    "pay \u202e0001\u202c \u2066to\u2069 \u2067me\u2069 \u200frtl",
    "'\"></article><h1>Approval</h1>&lt;b&gt; ${1} {{1}}",
    "a" * 190,
    "\u0000\u0008\u001b[31m\nsecond line\ttab",
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a\u032f\u031e\u0320\u034da",
    "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd \U0001f600",
)
"""What somebody might write who wants to be taken for the page."""


@asynccontextmanager
async def opened(there: Asked, **options: Any) -> AsyncIterator[Visitor]:
    """A browser with the inbox open."""
    async with visiting(there.url, **options) as visitor:
        await visitor.page.goto(visitor.url)
        await visitor.page.click("#show-inbox")
        await visitor.page.wait_for_selector("#inbox:not([hidden])")
        yield visitor


async def texts(page: Page, selector: str) -> list[str]:
    found: list[str] = await page.eval_on_selector_all(selector, "all => all.map((one) => one.textContent)")
    return found


@pytest.mark.parametrize(("options", "scheme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"])
async def test_the_whole_way_of_a_question(options: dict[str, Any], scheme: str) -> None:
    async with asked(None, "den", "hall") as there, opened(there, color_scheme=scheme, **options) as visitor:
        page = visitor.page
        await expect(page.locator("#inbox-empty")).to_be_visible()
        await there.ask("hall", "Which venue?", "Mill", "Hotel", recommendation="Hotel", detail="The mill is small.")
        await there.ask("den", "What name?", recommendation="A short one")
        await there.ask("den", "Which days?", "Mon", "Tue", "Fri", kind="blocking", multiple=True)
        await there.ask("hall", "Send it?", "Allow", "Refuse", kind="approval")
        await expect(page.locator(CARD)).to_have_count(4)
        assert await texts(page, f"{CARD} .question") == ["Send it?", "Which days?", "What name?", "Which venue?"]
        assert await texts(page, f"{CARD} .kind") == ["Approval \u00b7 the session waits", "Question \u00b7 the session waits"]
        assert await texts(page, "nav .count") == ["2", "2"]
        assert await page.get_attribute("#show-inbox", "aria-label") == "Inbox: 2 questions and 2 cards"
        venue, name = page.locator(CARD, has_text="Which venue?"), page.locator(CARD, has_text="What name?")
        assert await texts(page, f"{CARD} .option.recommended") == ["HotelRecommended"]
        assert await texts(page, f"{CARD} .advice") == ["Recommended: A short one"]
        assert not await venue.locator(".detail p").is_visible()
        await venue.locator("summary").click()
        assert await venue.locator(".detail p").is_visible()
        assert await page.evaluate("document.documentElement.scrollWidth") == options["viewport"]["width"]
        widths = [await one.evaluate("one => one.offsetWidth") for one in await venue.locator(".option").all()]
        wide = await venue.locator(".options").evaluate("one => one.offsetWidth")
        assert all((width == wide) is (options is PHONE) for width in widths)
        await venue.locator(".option", has_text="Hotel").click()
        await name.locator("input").fill("Report 2026")
        await name.locator("input").press("Enter")
        days = page.locator(CARD, has_text="Which days?")
        await days.locator(".option", has_text="Fri").click()
        await days.locator(".option", has_text="Mon").click()
        await days.locator(".choose").click()
        await page.locator(CARD, has_text="Send it?").locator(".dismiss").click()
        await expect(page.locator(CARD)).to_have_count(0)
        await expect(page.locator("#answered li")).to_have_count(4)
        assert await texts(page, "#answered .said") == ["", "Mon, Fri", "Report 2026", "Hotel"]
        assert [each.answer and (each.answer.via, each.answer.options, each.answer.text) for each in there.agent.told] == [
            ("button", (1,), None),
            ("text", (), "Report 2026"),
            ("button", (0, 2), None),
            ("button", (), None),
        ]
        await page.click("#show-status")
        await expect(page.locator("#rooms h2")).to_have_text(["den", "hall"])


async def test_two_devices_show_the_same_and_the_second_is_told_who_was_first() -> None:
    async with asked() as there, opened(there, **DESK) as one, opened(there, **PHONE) as two:
        question = await there.ask("den", "Tea?", "yes", "no")
        for each in (one, two):
            await expect(each.page.locator(CARD)).to_have_count(1)
        await two.page.locator(f"{CARD} input").fill("half an answer")
        await there.engine.join("den", Participant("anna", "Anna"))
        await two.page.route("**/v1/inbox/commands", lambda route: _late(route, there, question.question_id))
        await two.page.locator(f"{CARD} input").press("Enter")
        for each in (one, two):
            await expect(each.page.locator(CARD)).to_have_count(0)
            await expect(each.page.locator("#answered .said")).to_have_text(["yes"])
        await expect(two.page.locator("#banner")).to_have_text("Not taken: Anna has answered it already: yes")
        await expect(one.page.locator("#announce")).to_have_text("Anna answered: yes")


async def _late(route: Any, there: Asked, question_id: str) -> None:
    """Lets somebody else be first."""
    await there.engine.questions.answer(question_id, Answer("button", (0,), participant_id="anna"))
    await route.continue_()


async def test_by_keyboard_the_focus_goes_to_the_next_card() -> None:
    async with asked() as there, opened(there, **DESK) as visitor:
        page = visitor.page
        for text in ("One?", "Two?", "Three?"):
            await there.ask("den", text, "yes", "no")
        await expect(page.locator(CARD)).to_have_count(3)
        assert await page.evaluate(FOCUSED) == "inbox-title"
        for _ in range(20):
            await page.keyboard.press("Tab")
            if await page.evaluate("document.activeElement.className") == "option":
                break
        await page.keyboard.press("Enter")
        await expect(page.locator(CARD)).to_have_count(2)
        assert await page.evaluate(FOCUSED) == "Two?"
        await page.keyboard.press("Tab")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Space")
        await expect(page.locator(CARD)).to_have_count(1)
        assert await page.evaluate(FOCUSED) == "One?"
        await expect(page.locator("#announce")).to_have_text("Answered. 1 left.")
        await page.locator(f"{CARD} .dismiss").press("Enter")
        await expect(page.locator(CARD)).to_have_count(0)
        assert await page.evaluate(FOCUSED) == "inbox-title"
        assert [each.answer and each.answer.options for each in there.agent.told] == [(0,), (1,), ()]
        roles = await page.locator(CARD).count()
        assert roles == 0
        await page.keyboard.press("Escape")
        await expect(page.locator("#inbox")).to_be_hidden()


async def test_what_is_typed_stays_while_other_questions_come_and_go() -> None:
    async with asked() as there, opened(there, **DESK) as visitor:
        first = await there.ask("den", "First?")
        await there.ask("den", "Second?")
        field = visitor.page.locator(CARD, has_text="Second?").locator("input")
        await field.fill("half an")
        await there.ask("den", "Third?")
        await there.engine.questions.withdraw(first.question_id, "den", "nova")
        await expect(visitor.page.locator(f"{CARD} .question")).to_have_text(["Third?", "Second?"])
        await visitor.page.keyboard.type(" answer")
        await expect(field).to_have_value("half an answer")


async def test_the_list_keeps_its_own_place_and_leaves_the_transcript_s_alone() -> None:
    async with asked() as there, visiting(there.url, **PHONE) as visitor:
        page = visitor.page
        await visitor.join(room="den", microphone=False)
        for number in range(12):
            await there.engine.join("den", Participant(f"p{number}", f"Guest {number}"))
            await there.ask("den", f"Number {number}?", "yes")
        await page.locator("#transcript", has_text="Guest 11 joined").wait_for()
        await page.evaluate("document.getElementById('transcript').scrollTo({ top: 37, behavior: 'instant' })")
        await page.click("#show-inbox")
        await page.wait_for_selector(CARD)
        assert await page.evaluate("document.getElementById('inbox').scrollTop") == 0
        await page.evaluate("document.getElementById('inbox').scrollTop = 500")
        await page.click("#show-inbox")
        assert await page.evaluate("document.getElementById('transcript').scrollTop") == 37
        await page.click("#show-status")
        await page.click("#show-inbox")
        assert await page.evaluate("document.getElementById('inbox').scrollTop") == 500
        await page.reload()
        await page.click("#show-inbox")
        await page.wait_for_selector(CARD)
        assert await page.evaluate("document.getElementById('inbox').scrollTop") == 0


async def test_a_card_is_in_its_room_too_and_ends_in_both() -> None:
    async with asked(None, "den", "hall") as there, visiting(there.url, **DESK) as visitor:
        page = visitor.page
        await visitor.join(room="den", microphone=False)
        await there.ask("hall", "Elsewhere?")
        await there.ask("den", "Here?", "yes", "no")
        await expect(page.locator("#room-asked .question")).to_have_text(["Here?"])
        await page.locator("#room-asked .option", has_text="yes").click()
        await expect(page.locator("#room-asked")).to_be_hidden()
        assert await page.evaluate("document.activeElement.id") == "text"
        await page.click("#show-inbox")
        await expect(page.locator(f"{CARD} .question")).to_have_text(["Elsewhere?"])
        await page.locator(f"{CARD} .foot a").click()
        await expect(page.locator("#join")).to_be_visible()
        assert await page.input_value("#room") == "hall"


async def test_mine_and_agents_are_told_apart_by_who_started_the_room() -> None:
    async with asked(None, "mine", "theirs") as there, opened(there, **DESK) as visitor:
        await there.engine.register.put(RoomEntry("theirs", Starter("agent", "nova", "mine")))
        await there.ask("mine", "Mine?")
        await there.ask("theirs", "Theirs?")
        for name, shown in (("mine", ["Mine?"]), ("agents", ["Theirs?"]), ("all", ["Theirs?", "Mine?"])):
            await visitor.page.click(f"[data-filter={name}]")
            await expect(visitor.page.locator(f"{CARD} .question")).to_have_text(shown)
            assert await visitor.page.get_attribute(f"[data-filter={name}]", "aria-pressed") == "true"


def _entry(id: str, host: str, **more: Any) -> dict[str, Any]:
    """A question as a paired host's list has it."""
    return {
        "question_id": id,
        "room_id": f"room of {host}",
        "kind": "question",
        "question": f"{id}?",
        "options": ["yes"],
        "multiple": False,
        "urgency": "normal",
        "asked_by": {"channel_id": "nova", "generation_id": "g"},
        "asked_of": [],
        "about_room_id": "den",
        "spoken": False,
        "state": "open",
        "created_at": "2026-01-01T00:00:00+00:00",
        "audience": "all",
        "started": "you",
        "answerable": True,
        **more,
    }


async def test_paired_hosts_are_listed_apart_and_one_out_of_reach_says_so() -> None:
    hosts = [
        {"host": "oslo", "reachable": False, "questions": [_entry("Old", "oslo", answerable=False)]},
        {"host": None, "reachable": True, "questions": []},
        {
            "host": "bern",
            "reachable": True,
            "questions": [_entry("Here", "bern"), _entry("Card", "bern", kind="blocking", answerable=False)],
        },
    ]
    told = {"v": 1, "type": "inbox.snapshot", "data": {"is_host": True, "every_room": True, "hosts": hosts}}
    sent: list[dict[str, Any]] = []

    async def take(route: Any) -> None:
        sent.append(route.request.post_data_json)
        await route.fulfill(json={"id": sent[-1]["id"], "accepted": True, "disposition": "answered"})

    async with asked() as there, visiting(there.url, **DESK) as visitor:
        page = visitor.page
        body = f"data: {json.dumps(told)}\n\n"
        await page.route("**/v1/inbox/events", lambda route: route.fulfill(content_type="text/event-stream", body=body))
        await page.route("**/v1/inbox/commands", take)
        await page.goto(visitor.url)
        await page.click("#show-inbox")
        await expect(page.locator("#inbox .host > h2")).to_have_text(["This host", "bern", "oslo"])
        assert await texts(page, "#inbox .host > .hint:not([hidden])") == ["Not reachable"]
        assert await texts(page, f"{CARD} .question") == ["Here?", "Card?", "Old?"]
        assert await texts(page, f"{CARD} > .hint:not([hidden])") == [
            "It is answered on its own host.",
            "It cannot be answered from here now.",
        ]
        assert await page.locator(f"{CARD} button:enabled").count() == 3
        assert await page.locator("#inbox a").count() == 0
        await page.locator(f"{CARD} .option").first.click()
        await expect(page.locator("#announce")).to_have_text("Answered. 3 left.")
        assert sent[0]["data"] == {"question_id": "Here", "host": "bern", "option": 0}


@pytest.mark.parametrize("evil", EVIL, ids=range(len(EVIL)))
async def test_whatever_is_written_is_shown_as_text(evil: str) -> None:
    async with asked(None, "den") as there, opened(there, **PHONE) as visitor:
        page = visitor.page
        await there.ask("den", evil, evil, "no", recommendation=f"{evil}!", detail=evil)
        await page.wait_for_selector(CARD)
        await page.locator(f"{CARD} summary").click()
        shown = await page.evaluate(
            "([text]) => import('./questions.js').then(({ plain }) => plain(text))",
            [evil.encode("utf-16", "surrogatepass").decode("utf-16")],
        )
        assert await texts(page, f"{CARD} .question bdi, {CARD} .option:first-child bdi, {CARD} .detail bdi") == [shown] * 3
        assert await texts(page, f"{CARD} .advice bdi") == [f"{shown}!"]
        assert not any(sign in shown for sign in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u0000")
        await page.locator(f"{CARD} input").fill(f"own {evil}")
        await page.locator(f"{CARD} input").press("Enter")
        await expect(page.locator("#answered li")).to_have_count(1)
        assert (await texts(page, "#answered .question")) == [shown]
        assert await page.locator("#inbox img, #inbox script, #inbox iframe, #inbox a, #inbox b").count() == 0
        assert await page.title() == "Voice agent"
        assert await page.evaluate("document.documentElement.scrollWidth") == PHONE["viewport"]["width"]
