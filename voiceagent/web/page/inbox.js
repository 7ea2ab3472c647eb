// The inbox: every question of every room in one list, in place of the transcript, and what was answered in the last day.

import { Cards, node } from "./card.js";
import { FILTERS, age, outcome, plain } from "./questions.js";

export class Inbox {
  // `parts`: the elements that it draws into; `give` and `enter` as a card takes them.
  constructor(parts, questions, give, enter) {
    this.parts = parts; this.questions = questions; this.give = give; this.enter = enter;
    this.filter = "all"; this.groups = new Map(); this.place = 0; this.reachable = true; this.shown = false;
    for (const one of parts.filters.children) one.addEventListener("click", () => this.choose(one.dataset.filter));
  }

  choose(filter) {
    this.filter = FILTERS.includes(filter) ? filter : "all";
    for (const one of this.parts.filters.children) one.setAttribute("aria-pressed", String(one.dataset.filter === this.filter));
    this.draw();
  }

  // Its own place: the top at first, later where it was left.
  open() { this.shown = true; this.draw(); this.parts.box.scrollTop = this.place; this.parts.title.focus({ preventScroll: true }); }

  leave() { if (this.shown) this.place = this.parts.box.scrollTop; this.shown = false; }

  connection(up) { this.reachable = up; this.draw(); }

  draw() {
    const { list, empty, answered, answeredBox } = this.parts;
    const groups = this.questions.groups(this.filter);
    for (const [host, group] of this.groups) if (!groups.some((one) => one.host === host)) { group.box.remove(); this.groups.delete(host); }
    for (const one of groups) this.drawGroup(one, list, groups.length > 1);
    const waits = groups.some(({ open }) => open.length);
    empty.hidden = waits || !this.questions.known;
    this.parts.away.hidden = this.reachable;
    const recent = this.questions.answered(Date.now(), this.filter);
    answeredBox.hidden = !recent.length;
    answered.replaceChildren(...recent.map((entry) => this.ended(entry)));
  }

  drawGroup({ host, reachable, open }, list, several) {
    let group = this.groups.get(host);
    if (!group) {
      const box = node("section", "host");
      const name = box.appendChild(node("h2"));
      name.append(node("bdi", "", host === null ? "This host" : plain(host)));
      const away = box.appendChild(node("p", "hint", "Not reachable"));
      const cards = new Cards(box.appendChild(node("div", "cards")), this.give, { enter: this.enter, empty: () => this.parts.title.focus() });
      group = { box, name, away, cards };
      this.groups.set(host, group);
      const order = [...this.groups.keys()].sort((a, b) => (a === null ? -1 : b === null ? 1 : a < b ? -1 : 1));
      const after = order[order.indexOf(host) + 1];
      list.insertBefore(box, after === undefined ? null : this.groups.get(after).box);
    }
    group.away.hidden = reachable;
    group.name.hidden = !several;
    group.cards.show(open);
  }

  ended(entry) {
    const item = node("li"), { who, did, said } = outcome(entry);
    item.append(node("bdi", "question", plain(entry.question)));
    const line = item.appendChild(node("p", "foot"));
    const by = line.appendChild(node("span"));
    by.append(node("bdi", "", plain(who)), ` ${did}${said ? ": " : ""}`, node("bdi", "said", plain(said)));
    line.append(node("span", "", age(entry.ended_at, Date.now())));
    const room = line.appendChild(node("span"));
    room.append("room ", node("bdi", "", plain(entry.room_id)));
    return item;
  }

  tick() {
    if (!this.shown) return;
    for (const { cards } of this.groups.values()) cards.tick();
    this.draw();
  }
}
