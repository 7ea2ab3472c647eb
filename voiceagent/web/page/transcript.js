// Draws the story that a room's lines tell. Everything said or named is shown as text, never as markup.

import { strip } from "./latency.js";
import { Story, consumed, pieces, stoppable } from "./story.js";

const node = (tag, name, text) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
};
// What stands under the words, from above.
const PLACES = ["tool", "mark", "heard", "job", "answering", "strip"];
const place = (name) => PLACES.indexOf(name.split(" ")[0]);
const LOOKS = { lit: "span", rest: "span", struck: "s", corrected: "s" };

// One entry's box: made once, then changed in place, so that what others put into it and whoever is in it stay.
class Said {
  constructor(entry, who, stop) {
    this.stop = stop;
    this.box = node("article", "said");
    const head = this.box.appendChild(node("p", "who"));
    head.appendChild(node("b")).appendChild(node("bdi", "", who));
    head.append(node("time", "", new Date(entry.time ?? Date.now()).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" })));
    this.standing = head.appendChild(node("span", "standing"));
    this.words = this.box.appendChild(node("p", "words"));
    this.parts = new Map();
  }

  // Text in pieces; dots while there is none.
  write(texts, waiting) {
    if (texts.length) { this.words.replaceChildren(...texts.map(({ look, text }) => node(LOOKS[look], look, text))); return; }
    if (this.words.firstChild?.className === "dots") return;
    const dots = node("span", "dots");
    dots.setAttribute("role", "img");
    dots.setAttribute("aria-label", waiting);
    dots.append(node("i"), node("i"), node("i"));
    this.words.replaceChildren(dots);
  }

  // A part under the words, there while it has text; made by `make`, changed only when the text is another.
  part(name, text, make = () => node("p", name, text)) {
    const before = this.parts.get(name);
    if (before?.text === text) return;
    if (!text) { before?.made.remove(); this.parts.delete(name); return; }
    const made = make();
    const later = [...this.parts].filter(([other]) => place(other) > place(name)).sort(([one], [two]) => place(one) - place(two))[0];
    if (before) before.made.replaceWith(made); else if (later) later[1].made.before(made); else this.box.append(made);
    this.parts.set(name, { text, made });
  }

  stopButton(name, on, text, label, what) {
    this.part(name, on ? label : "", () => {
      const button = node("button", `stop ${name}`, text);
      button.type = "button";
      button.setAttribute("aria-label", label);
      button.addEventListener("click", () => { button.disabled = true; this.stop(what); });
      return button;
    });
  }
}

export class Transcript {
  // `self` gives the own participant's id, `announce` reads a whole utterance to those who cannot see it, `stop` takes what is to stop.
  constructor(box, empty, self, announce, stop) {
    this.box = box; this.empty = empty; this.self = self; this.announce = announce; this.stop = stop; this.agent = "Agent"; this.host = false; this.live = false;
    this.story = new Story();
    this.clear();
  }

  clear() {
    this.story.clear();
    this.drawn = new Map(); this.inputs = new Map(); this.announced = new Set(); this.live = false;
    this.box.replaceChildren(this.empty);
  }

  take(line) {
    if (line.anew) this.clear();
    const changed = this.story.take(line);
    if (changed.size) this.keep(() => { for (const entry of changed) this.draw(entry); });
  }

  // Changes what is shown; whoever reads at the end stays there.
  keep(change) {
    const near = this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < 120;
    change();
    if (near) this.toEnd();
  }

  // At once: a smooth way there would still be under way when the next line asks whether the reader is at the end.
  toEnd() { this.box.scrollTo({ top: this.box.scrollHeight, behavior: "instant" }); }

  draw(entry) {
    if (entry.gone) { this.forget(entry); return; }
    if (entry.kind === "note") { this.show(node("p", "note", entry.text)); return; }
    let said = this.drawn.get(entry);
    if (!said) {
      said = new Said(entry, entry.kind === "input" ? entry.who : this.agent, this.stop);
      this.drawn.set(entry, said);
      this.show(said.box);
    }
    if (entry.kind === "input") this.drawInput(entry, said); else this.drawAnswer(entry, said);
  }

  show(box) { this.empty.remove(); this.box.append(box); }

  forget(entry) {
    this.drawn.get(entry)?.box.remove();
    this.drawn.delete(entry);
    if (entry.kind === "input") this.inputs.delete(entry.id);
  }

  drawInput(entry, said) {
    this.inputs.set(entry.id, said);
    const own = entry.participant === this.self();
    said.box.className = `said ${own ? "own" : ""} ${entry.open ? "partial" : ""}`;
    said.write(entry.text ? [{ look: "lit", text: entry.text }] : [], "talking");
    said.standing.textContent = entry.standing;
    said.standing.dataset.disposition = entry.disposition ?? "";
    said.stopButton("answering", Boolean(entry.waits) && (own || this.host), "Take back", `Take back: ${entry.text}`, { input_id: entry.id });
    if (!entry.open && !own) this.read(entry, `${entry.who}: ${entry.text}`);
  }

  drawAnswer(entry, said) {
    said.box.className = `said agent ${entry.state}`;
    said.box.dataset.generation = entry.id;
    said.words.hidden = !entry.text && entry.state !== "making";
    said.write(pieces(entry), "thinking");
    said.part("tool", entry.tool ? `using ${entry.tool}…` : "");
    said.part("mark", entry.mark);
    for (const job of entry.jobs.values()) this.drawJob(job, said);
    said.part("heard", consumed(entry, (id) => this.story.name(id)).join(" · "));
    if (entry.waits) said.part("strip", JSON.stringify(entry.waits), () => strip(entry.waits));
    said.stopButton("answering", stoppable(entry) && (entry.text !== "" || entry.tool !== null), "Stop answering", "Stop this answer", { generation_id: entry.id });
    if (entry.state === "made" && entry.text) this.read(entry, `${this.agent}: ${entry.text}`);
  }

  drawJob(job, said) {
    said.part(`job ${job.id}`, `${job.label}: ${job.words}`, () => {
      const card = node("p", `job ${job.runs ? "runs" : ""}`);
      card.append(node("b", "", job.label), node("span", "", job.words));
      if (!job.runs || !this.host || job.words === "stopping…") return card;
      const button = card.appendChild(node("button", "stop", "Stop"));
      button.type = "button";
      button.setAttribute("aria-label", `Stop: ${job.label}`);
      button.addEventListener("click", () => { button.disabled = true; this.stop({ job_id: job.id }); });
      return card;
    });
  }

  read(entry, text) {
    if (this.announced.has(entry)) return;
    this.announced.add(entry);
    if (this.live) this.announce(text);
  }
}
