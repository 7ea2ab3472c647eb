"""What happens in rooms: each scenario draws a turn and knows its labels."""

from collections.abc import Callable
from typing import Any

from tools.speak.room import Room, Row

Scenario = Callable[[Room], Row | None]

SMALL = frozenset(["the", "a", "to", "of", "for", "and", "my", "in", "at", "de", "la", "le", "du", "pour", "et", "un", "una"])
"""Words that a turn does not end with."""


def _led(room: Room, text: str, often: float = 0.22) -> str:
    """Now and then something else is said first in the same turn."""
    if room.rng.random() >= often:
        return text
    first = room.raw("self_talk") if room.alone else room.raw("chat", "chat", "question_people", "reaction_people")
    return f"{first.rstrip('.?! ')}{room.rng.choice(('. ', ', ', ' '))}{text}"


def _asked(room: Room) -> str:
    return _led(room, room.raw("request_frames").replace("{R}", room.request()))


def chat(room: Room) -> Row:
    """Talk that is not for the agent."""
    room.usual()
    if room.alone:
        return room.row(room.raw("self_talk", "self_talk", "phone"), {})
    kind = room.raw(
        "chat", "chat", "question_people", "question_people", "to_person", "to_person", "reaction_people", "object_people"
    )
    return room.row(kind if room.rng.random() < 0.75 else f"{kind} {room.raw('chat', 'question_people')}", {})


def after_agent(room: Room) -> Row:
    """The agent has just answered somebody; people go on among themselves."""
    room.company()
    room.talk(3)
    room.exchange()
    if room.rng.random() < 0.4:
        room.say(room.rng.choice(room.people), room.raw("reaction_people"))
    return room.row(room.raw("reaction_people", "to_person", "question_people", "chat"), {})


def followup(room: Room) -> Row:
    """Whoever asked the agent goes on asking it, without its name."""
    room.talk(3)
    room.exchange(room.speaker)
    if room.rng.random() < 0.25:
        room.say(room.speaker, room.raw("followup"))
        room.say(room.agent, room.raw("agent_says"))
    return room.row(_led(room, room.raw("followup"), 0.1), {"directness": 2, "request": 1})


def named(room: Room) -> Row:
    """The agent is asked by name."""
    room.usual()
    return room.row(_asked(room), {"directness": 3, "request": 1})


def remark(room: Room) -> Row:
    """The agent is spoken to by name, without a request."""
    room.usual()
    return room.row(_led(room, room.raw("addressed_remark"), 0.12), {"directness": 3, "request": -1})


def about(room: Room) -> Row:
    """The agent is talked about."""
    room.usual()
    text = room.raw("about_agent", "about_agent", "about_agent", "name_as_other")
    return room.row(_led(room, text, 0.1), {})


def tentative(room: Room) -> Row:
    """Somebody wonders whether the agent might be asked."""
    room.company()
    room.talk(3)
    if room.rng.random() < 0.6:
        room.say(room.other(), room.raw("requests_q", "question_people"))
    text = room.raw("tentative")
    if room.rng.random() < 0.4:
        text = f"{room.raw('requests_q', 'chat').rstrip('.?! ')}{room.rng.choice(('? ', ', ', '. '))}{text}"
    return room.row(text, {"directness": 1, "request": -1 if room.rng.random() < 0.2 else 0})


def deferred(room: Room) -> Row:
    """Asking the agent is put off."""
    room.usual()
    text = room.raw("deferred")
    if room.rng.random() < 0.25:
        text = f"{room.raw('requests_q').rstrip('?')}{room.rng.choice(('? ', ', ', ' '))}{text}"
    return room.row(text, {"deferred": 1, "directness": -1, "hush": -1 if room.rng.random() < 0.3 else 0})


def unfinished(room: Room) -> Row | None:
    """A turn that stops too early: a phrase of its own kind, or a request cut after a small word."""
    room.usual()
    if room.rng.random() < 0.55:
        return room.row(_led(room, room.raw("unfinished"), 0.12), {"unfinished": 1, "directness": -1, "request": -1})
    words = _asked(room).split()
    places = [i + 1 for i, word in enumerate(words[:-1]) if word.lower() in SMALL and i > 1]
    if not places:
        return None
    text = " ".join(words[: room.rng.choice(places)]) + room.rng.choice(("", "", "...", "…", " um"))
    return room.row(text, {"unfinished": 1, "directness": -1, "request": -1})


def hush(room: Room) -> Row:
    """The agent is asked not to answer this turn."""
    room.usual()
    if room.rng.random() < 0.4:
        room.exchange()
    return room.row(_led(room, room.raw("hush"), 0.15), {"hush": 1, "directness": -1, "listen_request": -1})


def listen_request(room: Room) -> Row:
    """The agent is asked to only listen from now on."""
    room.usual()
    return room.row(_led(room, room.raw("listen_request"), 0.2), {"hush": 1, "listen_request": 1, "directness": -1})


def hush_person(room: Room) -> Row:
    """Somebody else is asked to be quiet."""
    room.company()
    room.usual()
    text = room.raw("hush", "listen_request", "lift")
    if "{A}" not in text:
        return room.row(room.raw("to_person"), {})
    return room.row(text.replace("{A}", room.other()), {})


def indirect(room: Room) -> Row:
    """A wish that the agent is meant to pick up."""
    room.usual()
    return room.row(_led(room, room.raw("indirect"), 0.1), {"directness": 2, "request": 1})


def ask_agent(room: Room) -> Row:
    """Somebody says that the agent is to be asked: a request that it picks up."""
    room.company()
    room.talk(3)
    if room.rng.random() < 0.6:
        room.say(room.other(), room.raw("requests_q", "question_people"))
    return room.row(_led(room, room.raw("ask_agent"), 0.2), {"directness": 2, "request": -1})


def solo_request(room: Room) -> Row:
    """One person alone asks without a name."""
    room.solitude()
    if room.rng.random() < 0.4:
        room.exchange()
    room.talk(3)
    return room.row(_led(room, room.request(), 0.2), {"directness": 2, "request": 1})


def solo_remark(room: Room) -> Row:
    """One person alone greets the agent or talks to it."""
    room.solitude()
    return room.row(room.raw("solo_remark", "solo_remark", "addressed_remark"), {"directness": 3, "request": -1})


def solo_other(room: Room) -> Row:
    """One person alone talks to themselves, on the telephone, or to a pet."""
    room.solitude()
    phone = room.rng.random() < 0.45
    for _ in range(room.rng.randrange(0, 4)):
        room.say(room.speaker, room.raw("phone" if phone else "self_talk"))
    text = room.raw("phone" if phone else "self_talk")
    if room.rng.random() < 0.35:
        text = f"{text} {room.raw('phone' if phone else 'self_talk')}"
    if phone and room.history and room.rng.random() < 0.3:
        text = room.raw("question_people")
    return room.row(text, {})


def answered(room: Room) -> Row:
    """The agent asked something, and this is the answer."""
    question, replies = room.raw("answered").split(" => ")
    room.talk(3)
    if room.rng.random() < 0.5:
        room.say(room.speaker, room.raw("request_frames").replace("{R}", room.request()))
    room.say(room.agent, question)
    reply = room.rng.choice(replies.split(" | "))
    if room.rng.random() < 0.15:
        reply = f"{reply} {room.agent}"
    return room.row(reply, {"answered": 1, "directness": 3, "request": -1, "hush": -1, "deferred": -1})


def answer_person(room: Room) -> Row:
    """Somebody else's question is answered, though the agent may have asked one before."""
    room.company()
    question, replies = room.raw("answer_to_person").split(" => ")
    if room.rng.random() < 0.5:
        room.say(room.agent, room.raw("answered").split(" => ")[0])
    room.say(room.other(), f"{room.other()}, {question}" if room.rng.random() < 0.3 else question)
    return room.row(room.rng.choice(replies.split(" | ")), {})


def not_answered(room: Room) -> Row:
    """The agent asked something, and people talk about other things."""
    room.company()
    room.say(room.agent, room.raw("answered").split(" => ")[0])
    return room.row(room.raw("to_person", "question_people", "chat"), {})


def _listening(room: Room) -> dict[str, Any]:
    who = room.rng.choice(room.people)
    return {"listening": {"speaker": who, "text": room.phrase("listen_request")}}


def quiet_room(room: Room) -> Row:
    """A listening room in which people talk on."""
    if room.alone:
        room.talk()
        return room.row(
            room.raw("self_talk", "phone", "requests_q", "question_people"), {"directness": -1, "request": -1}, **_listening(room)
        )
    room.usual()
    if room.rng.random() < 0.2:
        return room.row(room.raw("about_agent", "tentative"), {"directness": -1}, **_listening(room))
    text = room.raw("chat", "question_people", "to_person", "requests_q", "reaction_people")
    return room.row(text, {"request": -1}, **_listening(room))


def asked_while_quiet(room: Room) -> Row:
    """A listening room in which the agent is asked by name."""
    room.usual()
    return room.row(_asked(room), {"directness": 3, "request": 1, "asked_me": 1}, **_listening(room))


def lifted(room: Room) -> Row:
    """A listening room in which the agent may talk again."""
    room.usual()
    text = _led(room, room.raw("lift"), 0.2)
    if room.rng.random() < 0.25:
        text = f"{text.rstrip('.?! ')}{room.rng.choice((', ', '. '))}{room.request()}"
        return room.row(text, {"directness": 3, "request": 1, "lift": 1, "asked_me": -1}, **_listening(room))
    return room.row(text, {"directness": 3, "request": -1, "lift": 1, "asked_me": -1}, **_listening(room))


def hushed_again(room: Room) -> Row:
    """A listening room in which the agent is told to be quiet once more, or asking it is put off."""
    room.usual()
    which = room.rng.choice(("hush", "listen_request", "deferred"))
    label = "deferred" if which == "deferred" else "hush"
    return room.row(room.raw(which), {label: 1, "directness": -1, "request": -1}, **_listening(room))


def _cut(room: Room) -> dict[str, Any]:
    words = f"{room.raw('agent_says')} {room.raw('agent_says')} {room.raw('agent_says')}".split()
    text = " ".join(words[: room.rng.randrange(6, len(words))])
    return {"cut": {"text": text, "played_ms": room.rng.randrange(500, 9000)}}


def cut_on(room: Room) -> Row:
    """The agent was cut off by a noise of agreement."""
    room.talk(3)
    room.say(room.speaker, room.raw("request_frames").replace("{R}", room.request()))
    text = room.raw("resume_yes")
    if room.rng.random() < 0.2:
        text = f"{text} {room.raw('resume_yes')}"
    if room.rng.random() < 0.1:
        text = f"{text} {room.agent}"
    return room.row(text, {"resume": 1, "directness": -1, "request": 0}, **_cut(room))


def cut_off(room: Room) -> Row:
    """The agent was cut off by somebody who wants the turn."""
    room.talk(3)
    room.say(room.speaker, room.raw("request_frames").replace("{R}", room.request()))
    kind = room.rng.random()
    if kind < 0.5:
        return room.row(
            room.raw("resume_no", "followup"),
            {"resume": 0, "directness": -1, "request": -1, "hush": -1, "listen_request": 0},
            **_cut(room),
        )
    if kind < 0.65:
        return room.row(_asked(room), {"resume": 0, "directness": 3, "request": 1}, **_cut(room))
    if kind < 0.82:
        return room.row(room.raw("hush"), {"resume": 0, "directness": -1, "hush": 1, "listen_request": -1}, **_cut(room))
    text = room.raw("phone") if room.alone else room.raw("to_person", "question_people")
    return room.row(text, {"resume": 0}, **_cut(room))


def thought(room: Room) -> Row:
    """The agent knows something, and it fits what was asked or said, or does not."""
    question, truth, claim = room.raw("facts").split(" => ")
    other = room.raw("facts").split(" => ")[1]
    room.talk(4)
    kind = room.rng.random()
    if kind < 0.33:
        text, labels = question, {"answers": 1}
    elif kind < 0.6:
        text, labels = claim, {"corrects": 1}
    else:
        text, labels, truth = (question if room.rng.random() < 0.4 else room.raw("chat", "question_people")), {}, other
    if truth == other and labels:
        return room.row(text, {**labels, "request": -1, "directness": -1}, **_thought(truth))
    asks = text == question and room.alone
    return room.row(text, {**labels, "request": -1 if asks else 0, "directness": 2 if asks else 0}, **_thought(truth))


def thought_named(room: Room) -> Row:
    """The agent knows something while it is wondered about, asked, or while a question is put to another person."""
    question, truth, _ = room.raw("facts").split(" => ")
    room.company()
    kind = room.rng.random()
    if kind < 0.4:
        room.say(room.other(), question)
        return room.row(room.raw("tentative"), {"directness": 1, "answers": 1}, **_thought(truth))
    if kind < 0.65:
        return room.row(f"{room.other()}, {question}", {"answers": -1, "waiting": 1}, **_thought(truth))
    if kind < 0.85:
        room.say(room.other(), question)
        return room.row(truth, {"answers": 0}, **_thought(truth))
    return room.row(f"{room.agent}, {question}", {"directness": 3, "request": 1, "answers": -1}, **_thought(truth))


def _thought(wish: str) -> dict[str, Any]:
    return {"thought": {"text": wish, "want_to_say": [wish], "urgent": False}}


SCENARIOS: dict[str, tuple[Scenario, float]] = {
    scenario.__name__: (scenario, weight)
    for scenario, weight in (
        (chat, 14), (after_agent, 5), (followup, 6), (named, 10), (remark, 5), (about, 8), (tentative, 6), (deferred, 5),
        (unfinished, 7), (hush, 4), (listen_request, 4), (hush_person, 3), (indirect, 4), (ask_agent, 3), (solo_request, 5),
        (solo_remark, 3),
        (solo_other, 8), (answered, 5), (answer_person, 3), (not_answered, 2), (quiet_room, 4), (asked_while_quiet, 3),
        (lifted, 4), (hushed_again, 1), (cut_on, 4), (cut_off, 4), (thought, 6), (thought_named, 3),
    )
}  # fmt: skip
"""Each scenario with how often it is drawn, by weight."""
