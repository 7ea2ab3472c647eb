"""The page draws from the feed alone: a cut, a reload in the middle of an answer, a restart of the server, a line that drops."""

from contextlib import AsyncExitStack
from pathlib import Path

from tests.wire.browser import Visitor, visiting
from tests.wire.tap import tapped
from tests.wire.writing import Desk, desk
from voiceagent.values import JSON

BUBBLE = "#transcript .agent .words"


async def ask(visitor: Visitor, text: str) -> None:
    await visitor.page.fill("#text", text)
    await visitor.page.press("#text", "Enter")


async def shown(visitor: Visitor, selector: str = "#transcript .words") -> list[str]:
    found: list[str] = await visitor.page.eval_on_selector_all(selector, "all => all.map((one) => one.textContent)")
    return found


async def reads(visitor: Visitor, text: str) -> None:
    """Returns once the newest answer reads so."""
    await visitor.page.locator(BUBBLE).last.filter(has_text=text).wait_for(timeout=10_000)


async def mark(visitor: Visitor) -> None:
    """Marks the first answer's bubble, which is another one when the page draws it anew."""
    await visitor.page.locator("#transcript .agent").first.evaluate("box => { box.dataset.old = 'yes'; }")


async def marked(visitor: Visitor) -> int:
    return await visitor.page.locator("#transcript .agent[data-old=yes]").count()


def newest(desk: Desk) -> str:
    """The id of the answer that is being made."""
    generations = desk.engine.snapshot("lobby")["generations"]
    assert isinstance(generations, list)
    assert isinstance(generations[-1], dict)
    return str(generations[-1]["generation_id"])


def tell(desk: Desk, id: str, type: str, **data: JSON) -> None:
    """What a voice would tell of an answer."""
    durable = type != "speech.progress"
    desk.engine.feed("lobby").publish(type, data, durable=durable, channel_id="nova", generation_id=id)


async def test_an_answer_is_grey_then_black_then_struck_where_it_is_cut() -> None:
    async with desk() as there, visiting(there.url, viewport={"width": 360, "height": 700}) as visitor:
        await visitor.join(microphone=False)
        await ask(visitor, "What is there?")
        there.pen.write("Bread and <b>butter</b>.")
        await reads(visitor, "Bread and <b>butter</b>.")
        assert await shown(visitor, f"{BUBBLE} .rest") == ["Bread and <b>butter</b>."]
        id = newest(there)
        tell(there, id, "speech.queued", speech_id=id)
        tell(there, id, "speech.started", speech_id=id, text="Bread and butter.")
        tell(there, id, "speech.progress", speech_id=id, played_ms=400, spoken_chars=9)
        await visitor.until("shown", f"{BUBBLE} .lit")
        assert await shown(visitor, f"{BUBBLE} .lit") == ["Bread and"]
        text = "Bread and butter."
        tell(there, id, "speech.cut", speech_id=id, played_ms=500, text=text, spoken_chars=9, reason="barge_in")
        await visitor.until("shown", f"{BUBBLE} .struck")
        assert await shown(visitor, f"{BUBBLE} .struck") == [" <b>butter</b>."]
        there.pen.write(None)
        await visitor.until("shown", ".own .standing[data-disposition=answered]")
        tell(there, id, "consumption.updated", event_id="e", channel_id="v", participant_id="bo", state="cut", word="butter")
        await visitor.page.get_by_text("Somebody was cut at \u201cbutter\u201d").wait_for()
        assert await visitor.page.evaluate("document.documentElement.scrollWidth") == 360


async def test_an_answer_is_stopped_by_the_keyboard() -> None:
    async with desk() as there, visiting(there.url) as visitor:
        await visitor.join(microphone=False)
        await ask(visitor, "Tell me a story.")
        there.pen.write("Once upon")
        await reads(visitor, "Once upon")
        await visitor.until("shown", "button.answering")
        await visitor.page.keyboard.press("Escape")
        await visitor.page.locator(".agent .mark", has_text="stopped").wait_for()
        assert await visitor.page.locator("button.answering").count() == 0


async def test_a_reload_in_the_middle_of_an_answer_goes_on_and_doubles_nothing() -> None:
    async with desk() as there, visiting(there.url) as visitor:
        await visitor.join(microphone=False)
        await ask(visitor, "What is there?")
        there.pen.write("Bread ", "and ")
        await reads(visitor, "Bread and")
        await visitor.page.reload()
        await reads(visitor, "Bread and")
        there.pen.write("butter.", None)
        await reads(visitor, "Bread and butter.")
        await visitor.until("shown", ".own .standing[data-disposition=answered]")
        assert await shown(visitor) == ["What is there?", "Bread and butter."]
        assert await shown(visitor, f"{BUBBLE} .lit") == ["Bread and butter."]


async def test_a_server_that_was_started_again_goes_on_by_number(tmp_path: Path) -> None:
    file = tmp_path / "rooms.sqlite"
    async with AsyncExitStack() as browser:
        async with desk(file) as there:
            visitor = await browser.enter_async_context(visiting(there.url))
            await visitor.join(microphone=False)
            await ask(visitor, "First?")
            there.pen.write("One.", None)
            await visitor.until("shown", ".own .standing[data-disposition=answered]")
            await mark(visitor)
        await visitor.until("shown", "#banner:not([hidden])")
        async with desk(file, there.port) as after:
            await visitor.until("shown", "#banner[hidden]", 15_000)
            await after.receiver.next()
            await ask(visitor, "Second?")
            after.pen.write("Two.", None)
            await reads(visitor, "Two.")
            assert await shown(visitor) == ["First?", "One.", "Second?", "Two."]
            assert await marked(visitor) == 1
            await visitor.page.click("#leave")


async def test_a_line_that_drops_in_the_middle_loses_and_doubles_nothing() -> None:
    async with desk() as there, tapped(there.port) as tap, visiting(tap.url) as visitor:
        await visitor.join(microphone=False)
        await ask(visitor, "What is there?")
        there.pen.write("Bread ")
        await reads(visitor, "Bread")
        await mark(visitor)
        tap.shut()
        there.pen.write("and butter, ")
        await visitor.until("shown", "#banner:not([hidden])")
        await visitor.page.fill("#text", "And what else?")
        await visitor.page.press("#text", "Enter")
        await tap.open()
        there.pen.write("and jam.", None, "Honey.", None)
        await reads(visitor, "Honey.")
        assert await shown(visitor) == ["What is there?", "Bread and butter, and jam.", "And what else?", "Honey."]
        assert await marked(visitor) == 1


async def test_where_no_socket_passes_the_page_follows_by_events() -> None:
    async with desk() as there, visiting(there.url) as visitor:
        await visitor.page.add_init_script("window.WebSocket = undefined")
        await visitor.join(microphone=False)
        await ask(visitor, "What is there?")
        there.pen.write("Bread.", None)
        await reads(visitor, "Bread.")
        await visitor.until("shown", ".own .standing[data-disposition=answered]")
