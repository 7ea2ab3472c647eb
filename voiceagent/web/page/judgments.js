// What only a host sees: each decision with its reasons, what the agent has in mind, whether it only listens; and labels.

import { done, weighed, why } from "./reasons.js";

const MODES = { silent: "been silent", offer: "offered", speak: "spoken" };
const FORMING_MS = 2500;
const LEVELS = new Set(["directness", "alone", "carry_over"]);

const node = (tag, name, text) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
};

// What a host says that decisions should have been: kept in the browser per room, exported as lines of an evaluation set.
class Labels {
  constructor(room) { this.key = `labels:${room}`; this.lines = new Map(Object.entries(JSON.parse(localStorage.getItem(this.key) ?? "{}"))); }

  of(id) { return this.lines.get(id)?.expected; }

  toggle(data, expected) {
    const id = data.input_id;
    if (this.of(id) === expected) this.lines.delete(id);
    else this.lines.set(id, { ...data.turn, expected, labels: {}, tags: ["relabelled", `decided-${data.mode}`], language: navigator.language.slice(0, 2) });
    localStorage.setItem(this.key, JSON.stringify(Object.fromEntries(this.lines)));
  }

  get text() { return [...this.lines.values()].map((line) => `${JSON.stringify(line)}\n`).join(""); }
}

export class Judgments {
  // `parts` are the page's places for the thought, the listening state and the labels; `transcript` shows what was said.
  constructor(parts, transcript) {
    this.parts = parts; this.transcript = transcript;
    parts.save.addEventListener("click", () => this.save());
    this.open("");
  }

  open(room) { this.room = room; this.labels = new Labels(room); this.clear(); }

  clear() {
    this.boxes = new Map();
    this.parts.mind.hidden = this.parts.listens.hidden = this.parts.labels.hidden = true;
    this.showCount();
  }

  take({ type, data, anew }) {
    if (type === "stream.ready") { if (anew) this.clear(); this.parts.labels.hidden = !data.host; }
    if (type === "input.decided") this.decided(data);
    if (type === "thought.updated") this.thought(data);
    if (type === "room.listening") this.listening(data);
  }

  decided(data) {
    const said = this.transcript.inputs.get(data.input_id);
    if (!said || data.late) return;
    if (data.mode === "silent" && !data.final) this.forming();
    this.transcript.keep(() => {
      const before = this.boxes.get(data.input_id);
      const box = decision(data, this.transcript.agent, () => this.buttons(data));
      box.open = before?.open ?? false;
      if (before) before.replaceWith(box); else said.box.append(box);
      this.boxes.set(data.input_id, box);
    });
  }

  // The row of buttons by which a host says what should have been decided.
  buttons(data) {
    const row = node("div", "relabel");
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", "What it should have done");
    row.append(node("span", "", "It should have"));
    for (const [mode, words] of Object.entries(MODES)) {
      const button = row.appendChild(node("button", "", words));
      button.type = "button";
      button.dataset.mode = mode;
      button.addEventListener("click", () => { this.labels.toggle(data, mode); this.press(row, data.input_id); this.showCount(); });
    }
    this.press(row, data.input_id);
    return row;
  }

  press(row, id) {
    for (const button of row.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.mode === this.labels.of(id)));
  }

  forming() {
    const { mind } = this.parts;
    mind.dataset.forming = "yes";
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => { delete mind.dataset.forming; }, FORMING_MS);
  }

  thought(data) {
    const { mind, thought, wishes } = this.parts;
    clearTimeout(this.waiting);
    delete mind.dataset.forming;
    mind.hidden = !data.text && !data.want_to_say.length;
    thought.textContent = data.text;
    wishes.replaceChildren(...data.want_to_say.map((wish) => node("li", data.urgent ? "urgent" : "", wish)));
  }

  listening(data) {
    const { listens } = this.parts;
    listens.hidden = !data.listening;
    listens.replaceChildren(node("b", "", "Only listening. "), data.listening ? `${data.speaker}: \u201c${data.text}\u201d` : "");
  }

  showCount() {
    const count = this.labels.lines.size;
    this.parts.save.disabled = count === 0;
    this.parts.count.textContent = count === 0 ? "Open a decision under what was said, and say what it should have been." : `${count} ${count === 1 ? "decision" : "decisions"} labelled in this room.`;
  }

  save() {
    const link = node("a");
    link.href = URL.createObjectURL(new Blob([this.labels.text], { type: "application/x-ndjson" }));
    link.download = `labels-${this.room}.jsonl`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
}

// One line under what was said; opened, it says how sure each judgment was, and takes a host's word for what was right.
function decision(data, agent, buttons) {
  const box = node("details", `judged ${data.mode}`);
  const head = box.appendChild(node("summary"));
  head.append(node("b", "", `${agent} ${done(data.mode)}`), node("span", "", why(data.reason)));
  if (data.turn) box.append(buttons());
  const judgments = Object.entries(data.judgments);
  if (judgments.length) {
    const more = box.appendChild(node("details", "weighed"));
    more.append(node("summary", "", "What was weighed"));
    const list = more.appendChild(node("dl"));
    for (const [name, value] of judgments) list.append(node("dt", "", weighed(name)), weight(name, value));
  }
  box.append(node("small", "", `${data.asked_again ? "On second thoughts, " : ""}decided in ${data.duration_ms} ms (${data.reason})`));
  return box;
}

function weight(name, value) {
  const text = node("dd", "", Number(value).toFixed(2));
  const bar = text.appendChild(node("i"));
  const full = LEVELS.has(name) || value > 1 ? 3 : 1;
  bar.style.setProperty("--part", Math.max(0, Math.min(1, value / full)).toFixed(3));
  return text;
}
