// Who said what, as the room's events tell it. Everything said or named is shown as text, never as markup.

import { strip } from "./latency.js";

const node = (tag, name, text) => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
};

// Up to the last word that was heard whole.
const wholeWords = (text, chars) => chars >= text.length || !/\S/.test(text[chars]) ? Math.min(chars, text.length) : text.slice(0, chars).search(/\S*$/);

class Said {
  constructor(who, kind, time) {
    this.before = ""; this.segment = ""; this.text = ""; this.spoken = 0; this.state = "open"; this.kind = kind; this.who = who;
    this.box = node("article", `said ${kind}`);
    const head = this.box.appendChild(node("p", "who"));
    const name = head.appendChild(node("b"));
    name.appendChild(node("bdi", "", who));
    head.appendChild(node("time", "", new Date(time ?? Date.now()).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" })));
    this.words = this.box.appendChild(node("p", "words"));
    this.show();
  }

  // open: words come; speaking: lit as far as heard; cut: the rest is struck; done: all of it stands.
  show() {
    const { text, spoken, state } = this;
    if (!text) {
      const dots = node("span", "dots");
      dots.setAttribute("role", "img");
      dots.setAttribute("aria-label", this.kind.includes("agent") ? "thinking" : "talking");
      dots.append(node("i"), node("i"), node("i"));
      this.words.replaceChildren(dots);
      return;
    }
    const split = state === "speaking" || state === "cut" ? wholeWords(text, spoken) : text.length;
    const rest = node(state === "cut" ? "s" : "span", state === "cut" ? "struck" : "rest", text.slice(split));
    this.words.replaceChildren(node("span", "lit", text.slice(0, split)), ...(split < text.length ? [rest] : []));
  }

  set(change) { Object.assign(this, change); this.show(); }

  // An answer comes in segments, with tools between them; a segment's deltas are replaced by the whole of it.
  write(piece) { this.segment += piece; this.set({ text: this.before + this.segment }); }

  close(whole) { this.before += whole; this.segment = ""; this.set({ text: this.before }); }

  mark(text) {
    this.note ??= this.box.appendChild(node("p", "mark"));
    this.note.textContent = text;
  }
}

export class Transcript {
  // `self` gives the own participant's id, `announce` reads a whole utterance to those who cannot see it.
  constructor(box, empty, self, announce) {
    this.box = box; this.empty = empty; this.self = self; this.announce = announce; this.agent = "Agent";
    this.clear();
  }

  clear() {
    this.people = new Map(); this.inputs = new Map(); this.replies = new Map(); this.events = new Set(); this.answers = new Map(); this.waiting = new Map();
    this.box.replaceChildren(this.empty);
  }

  take(event) {
    const handle = HANDLERS[event.type];
    if (!handle) return;
    this.keep(() => handle(this, event.data, event));
  }

  // Changes what is shown; whoever reads at the end stays there.
  keep(change) {
    const near = this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < 120;
    change();
    if (near) this.toEnd();
  }

  // At once: a smooth way there would still be under way when the next line asks whether the reader is at the end.
  toEnd() { this.box.scrollTo({ top: this.box.scrollHeight, behavior: "instant" }); }

  add(said) { this.empty.remove(); this.box.append(said.box); return said; }

  remark(text) { this.empty.remove(); this.box.append(node("p", "note", text)); }

  person(id, name) { return name || this.people.get(id) || "Somebody"; }

  input(data, event) {
    let said = this.inputs.get(data.input_id);
    if (!said) {
      const own = data.participant_id === this.self();
      said = this.add(new Said(this.person(data.participant_id, data.name), own ? "own partial" : "partial", event.time));
      this.inputs.set(data.input_id, said);
    }
    return said;
  }

  reply(id, event) {
    let said = this.replies.get(id);
    if (!said) {
      said = this.add(new Said(this.agent, "agent", event.time));
      this.replies.set(id, said);
      if (event.responds_to) {
        this.answers.set(event.responds_to, said);
        const late = this.waiting.get(event.responds_to);
        if (late) { said.words.after(late); this.waiting.delete(event.responds_to); }
      }
    }
    return said;
  }

  latency(data) {
    const bar = strip(data);
    const said = this.answers.get(data.input_id);
    if (said) said.words.after(bar); else this.waiting.set(data.input_id, bar);
  }
}

const reply = (transcript, data, event) => transcript.reply(event.generation_id ?? data.speech_id, event);

const HANDLERS = {
  "input.started": (t, data, event) => { t.input(data, event); },
  "input.partial": (t, data) => { t.inputs.get(data.input_id)?.set({ text: data.text }); },
  "input.accepted": (t, data, event) => {
    if (data.event_id) t.events.add(data.event_id);
    const said = t.input(data, event);
    said.box.classList.remove("partial");
    said.set({ text: data.text, state: "done" });
    if (!said.kind.includes("own")) t.announce(`${said.who}: ${data.text}`);
  },
  "input.settled": (t, data) => {
    const said = t.inputs.get(data.input_id);
    if (said && said.state === "open") { said.box.remove(); t.inputs.delete(data.input_id); }
  },
  "room.event": (t, data, event) => roomEvent(t, data.event ?? {}, event),
  "generation.started": (t, data, event) => { reply(t, data, event); },
  "text.delta": (t, data, event) => { reply(t, data, event).write(data.text); },
  "assistant.message": (t, data, event) => { reply(t, data, event).close(data.text); },
  "tool.started": (t, data, event) => { const said = reply(t, data, event); if (said.before && !said.before.endsWith("\n")) said.close("\n"); },
  "generation.finished": (t, data, event) => { const said = reply(t, data, event); if (!said.text && data.text) said.close(data.text); if (!said.text) said.box.remove(); else t.announce(`${said.who}: ${said.text}`); },
  "generation.failed": (t, data, event) => {
    const said = reply(t, data, event);
    said.box.classList.add("failed");
    said.set({ text: said.text || "…", state: "done" });
    said.mark(`The answer failed (${data.error_category ?? "error"}). Ask again, or look at the server's log.`);
  },
  "generation.detached": (t, data, event) => { const said = reply(t, data, event); if (!said.text) said.box.remove(); },
  "speech.queued": (t, data, event) => { const said = reply(t, data, event); if (!said.text && data.text) said.close(data.text); },
  "speech.started": (t, data, event) => {
    const said = reply(t, data, event);
    said.set({ text: said.text || data.text || "", state: "speaking" });
  },
  "speech.progress": (t, data, event) => { const said = reply(t, data, event); if (said.state !== "cut") said.set({ spoken: data.spoken_chars ?? said.spoken, state: "speaking" }); },
  "speech.finished": (t, data, event) => { const said = reply(t, data, event); if (said.state !== "cut") said.set({ text: said.text || data.text || "", state: "done" }); },
  "speech.cut": (t, data, event) => {
    const said = reply(t, data, event);
    said.set({ text: said.text || data.text || "", spoken: data.spoken_chars ?? said.spoken, state: "cut" });
    said.mark(`cut after ${((data.played_ms ?? 0) / 1000).toFixed(1)} s`);
  },
  "speech.dropped": (t, data, event) => { const said = reply(t, data, event); if (said.text) { said.set({ spoken: 0, state: "cut" }); said.mark("never spoken"); } else said.box.remove(); },
  "participant.joined": (t, data) => { t.people.set(data.participant_id, data.name); t.remark(`${data.name ?? "Somebody"} joined`); },
  "participant.left": (t, data) => { t.remark(`${t.person(data.participant_id, data.name)} left`); },
  "turn.latency": (t, data) => { t.latency(data); },
};

function roomEvent(t, inner, event) {
  if (inner.type !== "message" || inner.status === "blocked" || t.events.has(inner.id)) return;
  t.events.add(inner.id);
  const text = inner.content?.body ?? "";
  const source = inner.source ?? {};
  if (source.participant_id) {
    if (t.inputs.has(inner.id)) { const said = t.inputs.get(inner.id); said.box.classList.remove("partial"); said.set({ text, state: "done" }); return; }
    const own = source.participant_id === t.self();
    const said = t.add(new Said(t.person(source.participant_id), own ? "own" : "", event.time));
    said.set({ text, state: "done" });
    t.inputs.set(inner.id, said);
    if (!own) t.announce(`${said.who}: ${text}`);
    return;
  }
  const id = inner.correlation_id ?? inner.id;
  const said = t.reply(id, { ...event, responds_to: inner.responds_to ?? undefined });
  if (!said.text) said.close(text);
}
