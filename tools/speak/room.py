"""A made-up room: who is in it, what was said before, and phrases with the names filled in."""

import random
from collections.abc import Mapping
from typing import Any, Protocol

AGENTS = [
    "Nova", "Juno", "Iris", "Mira", "Otto", "Hugo", "Theo", "Max", "Ada", "Sol", "Lumi", "Pip", "Wren", "Fern", "Echo", "Luna",
    "Clara", "Atlas", "Sage", "Kai", "Zoe", "Robin", "Aria", "Milo", "Eva",
]  # fmt: skip
PEOPLE = {
    language: names.split()
    for language, names in {
        "en": "Alice Bob Chloe Dan Ellen Frank Gina Harry Ivy Jack Kate Liam Megan Nick Olga Paul Rita Sam Tina Vic Priya Omar",
        "fr": "Sylvain Paul Marie Odile Karim Inès Thibault Louise Chloé Marc Sophie Julien Nadia Hélène Bruno Camille",
        "es": "Beto Ramiro Unai Begoña Lucía Carlos Marta Javier Elena Pablo Rosa Diego Carmen Íñigo Vera Nico",
    }.items()
}

Row = dict[str, Any]


class Phrases(Protocol):
    """Gives lists of phrases by name."""

    def phrases(self, name: str) -> list[str]:
        """A list of phrases; never empty."""
        ...


class Room:
    """One turn's surroundings, drawn at random."""

    def __init__(self, rng: random.Random, bank: Phrases, language: str) -> None:
        self.rng, self.language = rng, language
        self._bank = bank
        self.agent = rng.choice(AGENTS)
        size = rng.choices((1, 2, 3, 4, 5), (0.3, 0.3, 0.26, 0.1, 0.04))[0]
        self.people = rng.sample([name for name in PEOPLE[language] if name != self.agent], size)
        self.speaker = rng.choice(self.people)
        self.history: list[dict[str, str]] = []

    @property
    def alone(self) -> bool:
        """Whether one person is there."""
        return len(self.people) == 1

    def other(self) -> str:
        """Another person than the speaker; somebody absent when the speaker is alone."""
        others = [name for name in self.people if name != self.speaker]
        return self.rng.choice(others or [name for name in PEOPLE[self.language] if name != self.speaker])

    def company(self) -> None:
        """Makes sure that somebody else is there."""
        while len(self.people) < 2 + (self.rng.random() < 0.5):
            self.people.append(self.rng.choice([n for n in PEOPLE[self.language] if n not in self.people and n != self.agent]))

    def solitude(self) -> None:
        """Leaves the speaker alone."""
        self.people = [self.speaker]

    def raw(self, *lists: str) -> str:
        """A phrase as it stands in the bank."""
        return self.rng.choice(self._bank.phrases(self.rng.choice(lists)))

    def filled(self, text: str) -> str:
        """A phrase with the names of this room."""
        return text.replace("{A}", self.agent).replace("{P}", self.other())

    def phrase(self, *lists: str) -> str:
        """A phrase of one of the lists with this room's names."""
        return self.filled(self.raw(*lists))

    def request(self) -> str:
        """Something to ask of the agent, without its name."""
        return self.raw("requests_q", "requests_i")

    def say(self, who: str, text: str) -> None:
        """Adds a turn to what was said before."""
        other = [name for name in self.people if name != who] or [self.other()]
        text = text.replace("{A}", self.agent).replace("{P}", self.rng.choice(other))
        self.history.append({"speaker": who, "text": text})

    def talk(self, most: int = 4) -> None:
        """Some talk between those who are there."""
        for _ in range(self.rng.randrange(0, most)):
            if self.alone:
                self.say(self.speaker, self.raw("self_talk", "self_talk", "chat"))
            else:
                self.say(
                    self.rng.choice(self.people), self.raw("chat", "chat", "question_people", "reaction_people", "to_person")
                )

    def exchange(self, who: str | None = None) -> None:
        """Somebody asks the agent, and it answers."""
        who = who or self.rng.choice(self.people)
        frame = self.raw("request_frames") if self.rng.random() < 0.7 or not self.alone else "{R}"
        self.say(who, frame.replace("{R}", self.request()))
        self.say(self.agent, self.raw("agent_says"))

    def usual(self) -> None:
        """What may stand before any turn: mostly talk, now and then an exchange with the agent some turns ago."""
        if self.rng.random() < 0.2:
            self.exchange()
            self.say(self.rng.choice(self.people), self.raw("thanks_agent", "reaction_people"))
        if self.rng.random() < 0.1:
            self.say(self.rng.choice(self.people), self.raw("about_agent", "tentative"))
        self.talk()

    def row(self, text: str, labels: Mapping[str, int], **more: Any) -> Row:
        """The labelled turn. What `labels` leaves out is 0, or unknown for a label of -1."""
        known = dict.fromkeys(("directness", "deferred", "unfinished", "hush", "request", "answered"), 0)
        known.update(dict.fromkeys(("asked_me", "lift"), 0) if "listening" in more else {"listen_request": 0})
        if "thought" in more:
            known.update(dict.fromkeys(("answers", "corrects", "waiting"), 0))
        known.update(labels)
        return {
            "agent": self.agent, "people": self.people, "history": self.history[-6:],
            "last": {"speaker": self.speaker, "text": self.filled(text)}, "language": self.language,
            "labels": {name: value for name, value in known.items() if value >= 0}, **more,
        }  # fmt: skip
