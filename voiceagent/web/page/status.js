// How the rooms stand: people, calls, agents, what waits.

import { node } from "./card.js";
import { plain } from "./questions.js";

const EVERY_MS = 5_000;

const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;

export class Status {
  // `load` asks the server, `enter` takes a room that is to be opened.
  constructor(parts, load, enter) { this.parts = parts; this.load = load; this.enter = enter; this.timer = null; }

  // Looks again every few seconds while it is shown.
  open() {
    this.parts.title.focus({ preventScroll: true });
    this.look();
    this.timer ??= setInterval(() => { if (document.visibilityState === "visible") this.look(); }, EVERY_MS);
  }

  leave() { clearInterval(this.timer); this.timer = null; }

  async look() {
    try {
      this.draw((await this.load()).rooms);
      this.parts.trouble.hidden = true;
    } catch (error) {
      this.parts.trouble.textContent = error.status ? error.message : "The server does not answer.";
      this.parts.trouble.hidden = false;
    }
  }

  draw(rooms) {
    const sum = (name) => rooms.reduce((all, room) => all + room[name], 0);
    this.parts.sum.textContent = [
      count(rooms.filter((room) => room.open).length, "open room"), count(sum("calls"), "call"),
      count(sum("questions"), "question waits", "questions wait"), count(sum("cards"), "card waits", "cards wait"),
    ].join(" \u00b7 ");
    const key = JSON.stringify(rooms);
    if (key === this.drawn) return; // whoever is on a link stays there
    this.drawn = key;
    this.parts.list.replaceChildren(...rooms.map((room) => this.room(room)));
  }

  room(room) {
    const item = node("li"), head = item.appendChild(node("h2")), link = head.appendChild(node("a"));
    link.append(node("bdi", "", plain(room.room_id)));
    link.href = `?room=${encodeURIComponent(room.room_id)}${location.hash}`;
    link.addEventListener("click", (event) => { if (!event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); this.enter(room.room_id); } });
    const facts = item.appendChild(node("dl"));
    const fact = (name, texts) => { const text = node("dd"); texts.forEach((one, at) => text.append(...(at ? [", "] : []), node("bdi", "", plain(one)))); facts.append(node("dt", "", name), text); };
    fact("State", [room.open ? "open" : "closed"]);
    fact("People", room.people.length ? room.people.map((person) => person.name ?? "Somebody") : ["nobody"]);
    fact("Agents", room.agents.length ? room.agents : ["none"]);
    fact("Calls", [room.calls]);
    fact("Answers being made", [room.answers]);
    fact("Waits", [count(room.questions, "question"), count(room.cards, "card")]);
    return item;
  }
}
