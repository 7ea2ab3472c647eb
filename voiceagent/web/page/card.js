// One question as a card: what is asked, its options as buttons, words of one's own, Dismiss. All of it is shown as text, never as
// markup: whoever wrote it may be anybody.

import { age, plain, title } from "./questions.js";

let made = 0;

export const node = (tag, name, text) => {
  const box = document.createElement(tag);
  if (name) box.className = name;
  if (text !== undefined) box.textContent = text;
  return box;
};
// A text of somebody else: set apart, so that its direction is its own.
export const foreign = (tag, name, text) => {
  const box = node(tag, name);
  box.appendChild(node("bdi", "", plain(text)));
  return box;
};
const button = (name, text) => {
  const box = node("button", name, text);
  box.type = "button";
  return box;
};

export class Card {
  // `give` takes what a person did and returns why it was not taken, if it was not; `enter` takes a room that is to be opened;
  // without it the card stands in its room.
  constructor(entry, give, enter) {
    this.entry = entry; this.give = give; this.enter = enter; this.chosen = new Set(); this.name = `card-${made += 1}`;
    this.box = node("article", "asked");
    this.box.dataset.kind = entry.kind;
    this.box.dataset.question = entry.question_id;
    this.box.setAttribute("aria-labelledby", `${this.name}-text`);
    if (title(entry)) this.box.append(node("p", "kind", title(entry)));
    this.head = foreign("h3", "question", entry.question);
    this.head.id = `${this.name}-text`;
    this.head.tabIndex = -1;
    this.box.append(this.head, ...this.advice(), ...this.options(), ...this.detail());
    this.trouble = node("p", "error");
    this.trouble.setAttribute("role", "alert");
    this.trouble.hidden = true;
    this.foot = node("p", "foot");
    this.hint = node("p", "hint");
    this.box.append(...this.own(), this.hint, this.trouble, this.foot);
    this.showFoot();
    this.update(entry);
  }

  // Whether it may be answered may change: where it is kept may be out of reach for a while.
  update(entry) {
    this.entry = entry;
    const usable = entry.answerable;
    for (const one of this.box.querySelectorAll("button, input")) one.disabled = !usable;
    this.hint.hidden = usable;
    this.hint.textContent = usable ? "" : !entry.host ? "It is put to somebody else." : entry.kind === "question" ? "It cannot be answered from here now." : "It is answered on its own host.";
  }

  focus() { this.head.focus(); this.box.scrollIntoView({ block: "nearest" }); }

  advice() {
    const { recommendation, options } = this.entry;
    if (recommendation === undefined || options.includes(recommendation)) return [];
    const line = node("p", "advice");
    line.append(node("b", "", "Recommended: "), node("bdi", "", plain(recommendation)));
    return [line];
  }

  options() {
    const { options, recommendation, multiple } = this.entry;
    if (!options.length) return [];
    const group = node("div", "options");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", multiple ? "Options, several may be chosen" : "Options");
    for (const [place, text] of options.entries()) {
      const one = group.appendChild(button("option", undefined));
      one.append(node("bdi", "", plain(text)));
      if (text === recommendation) { one.classList.add("recommended"); one.append(node("small", "", "Recommended")); }
      if (multiple) one.setAttribute("aria-pressed", "false");
      one.addEventListener("click", () => (multiple ? this.choose(place, one) : this.send("question.answer", { option: place })));
    }
    if (!multiple) return [group];
    const done = button("primary choose", "Answer");
    done.addEventListener("click", () => this.send("question.answer", { options: [...this.chosen].sort() }));
    return [group, done];
  }

  choose(place, one) {
    if (!this.chosen.delete(place)) this.chosen.add(place);
    one.setAttribute("aria-pressed", String(this.chosen.has(place)));
  }

  detail() {
    if (this.entry.detail === undefined) return [];
    const more = node("details", "detail");
    more.append(node("summary", "", "Detail"), foreign("p", "", this.entry.detail));
    return [more];
  }

  own() {
    const dismiss = button("dismiss", "Dismiss");
    dismiss.addEventListener("click", () => this.send("question.dismiss", {}));
    const form = node("form", "own");
    if (this.entry.kind !== "approval") {
      const label = node("label", "away", "Your own answer"), field = node("input");
      label.htmlFor = field.id = `${this.name}-own`;
      Object.assign(field, { maxLength: 4000, placeholder: "Your own answer", autocomplete: "off", dir: "auto" });
      const send = node("button", "", "Send");
      send.type = "submit";
      form.append(label, field, send);
      form.addEventListener("submit", (event) => { event.preventDefault(); if (field.value.trim()) this.send("question.answer", { text: field.value.trim() }); else field.focus(); });
    }
    form.append(dismiss);
    return [form];
  }

  // Nothing is disabled meanwhile: whoever is on a button stays there.
  async send(type, what) {
    if (this.box.getAttribute("aria-busy") === "true") return;
    this.box.setAttribute("aria-busy", "true");
    const { question_id, host } = this.entry;
    const why = await this.give(this.entry, type, { question_id, ...(host ? { host } : {}), ...what });
    this.box.removeAttribute("aria-busy");
    this.trouble.textContent = why ? plain(why) : "";
    this.trouble.hidden = !why;
  }

  showFoot() {
    const { room_id, asked_by, created_at, host } = this.entry;
    this.time ??= node("time");
    this.time.dateTime = created_at;
    this.time.textContent = age(created_at, Date.now());
    if (this.foot.firstChild) return;
    this.foot.append(this.time);
    if (this.enter && !host) {
      const link = node("a");
      link.append("room ", node("bdi", "", plain(room_id)));
      link.href = `?room=${encodeURIComponent(room_id)}${location.hash}`;
      link.addEventListener("click", (event) => { if (!event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); this.enter(room_id); } });
      this.foot.append(link);
    } else if (this.enter) this.foot.append(foreign("span", "", `room ${room_id}`));
    this.foot.append(foreign("span", "", `asked by ${asked_by.channel_id}`));
    if (this.entry.urgency === "now") this.foot.append(node("span", "urgent", "urgent"));
    if (this.enter) this.foot.append(foreign("span", "", host ?? "this host"));
  }

  tick() { this.time.textContent = age(this.entry.created_at, Date.now()); }
}

// The cards of a list, each made once and kept while its question is open, so that what is typed into it stays.
export class Cards {
  // `empty` takes the focus when the card that had it was the last one.
  constructor(box, give, { enter, empty }) { this.box = box; this.give = give; this.enter = enter; this.empty = empty; this.cards = new Map(); }

  show(entries) {
    const wanted = new Map(entries.map((entry) => [`${entry.host ?? ""} ${entry.question_id}`, entry]));
    const had = [...this.cards.values()].find((card) => card.box.contains(document.activeElement));
    const order = [...this.cards.values()];
    for (const [id, card] of this.cards) if (!wanted.has(id)) { card.box.remove(); this.cards.delete(id); }
    let before = null;
    for (const [id, entry] of wanted) {
      const card = this.cards.get(id) ?? new Card(entry, this.give, this.enter);
      this.cards.set(id, card);
      card.update(entry);
      const next = before ? before.nextSibling : this.box.firstChild;
      if (next !== card.box) this.box.insertBefore(card.box, next);
      before = card.box;
    }
    if (!had || had.box.isConnected) return;
    const left = order.slice(order.indexOf(had) + 1).concat(order.slice(0, order.indexOf(had)).reverse());
    const next = left.find((card) => card.box.isConnected);
    if (next) next.focus(); else this.empty?.();
  }

  tick() { for (const card of this.cards.values()) card.tick(); }
}
