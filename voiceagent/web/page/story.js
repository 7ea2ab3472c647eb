// What a room's lines tell, as entries in order: who said what and what became of it, answers and how far they were heard, jobs.
// Nothing here is drawn: lines in, changed entries out; the same lines give the same story.

const SETTLED = {
  answered: "answered",
  answered_question: "answered a question",
  listened: "listened to",
  backchannel: "taken as a nod",
  superseded: "said anew since",
  held: "not answered",
  withdrawn: "taken back",
  unknown: "perhaps not taken in",
  rejected: "not taken",
  failed: "the answer failed",
};
const GIVEN_UP = {
  barge_in: "stopped: somebody spoke",
  superseded: "given up for what was said next",
  stop: "stopped: the line was hung up",
  shutdown: "stopped: the server ended",
  host: "stopped",
};
const DROPPED = { superseded: "given up for what was said next", barge_in: "stopped before it sounded", host: "stopped before it sounded" };
const JOBS = {
  "job.queued": "at work", "job.returned": "done", "job.failed": "failed", "job.cancel_requested": "stopping…",
  "job.cancelled": "stopped; what it had done stays done", "job.recovered": "interrupted; what came of it is not known",
};
const CONSUMED = {
  playing: "is hearing it", heard: "heard it all", cut: "was cut", never_played: "never heard it", delivered: "has it", read: "has read it",
};
// Of several ways in which one person has come by an answer, the one that says most.
const RANK = ["queued", "never_played", "delivered", "read", "playing", "cut", "heard"];

// Places in a text are counted in characters, as the server counts them, not in JavaScript's halves of some.
const signs = (text) => Array.from(text);

// The number of signs up to the last word that was heard whole.
export function wholeWords(text, heard) {
  if (heard >= text.length || !/\S/.test(text[heard])) return Math.min(heard, text.length);
  let end = heard;
  while (end > 0 && /\S/.test(text[end - 1])) end -= 1;
  return end;
}

// An answer's text in pieces: "lit" was heard, "rest" was not yet, "struck" never will be, "corrected" was said otherwise since.
export function pieces(answer) {
  const text = signs(answer.text), looks = [];
  const gone = answer.speech === "cut" || answer.speech === "dropped" || (answer.speech === "none" && answer.reason === "superseded");
  const heard = { none: answer.state === "making" || gone ? 0 : text.length, queued: 0, dropped: 0, heard: text.length }[answer.speech] ?? wholeWords(text, answer.spoken);
  const superseded = (at) => answer.parts.some((part) => part.superseded && at >= part.at && at < part.at + part.length);
  for (const [at, sign] of text.entries()) {
    const look = superseded(at) ? "corrected" : at < heard ? "lit" : gone ? "struck" : "rest";
    if (looks.at(-1)?.look === look) looks.at(-1).text += sign; else looks.push({ look, text: sign });
  }
  return looks;
}

// How far each person has come with an answer, in words.
export function consumed(answer, name) {
  const best = new Map();
  for (const one of answer.consumption.values()) {
    const before = best.get(one.participant_id);
    if (!before || RANK.indexOf(one.state) > RANK.indexOf(before.state)) best.set(one.participant_id, one);
  }
  return [...best].filter(([id, one]) => id && CONSUMED[one.state]).map(([id, one]) =>
    `${name(id)} ${CONSUMED[one.state]}${one.state === "cut" && one.word ? ` at \u201c${one.word}\u201d` : ""}`);
}

export class Story {
  constructor() { this.clear(); }

  clear() {
    this.entries = new Map(); this.people = new Map(); this.events = new Map(); this.jobs = new Map(); this.notes = 0; this.gap = false;
    this.changed = new Set();
  }

  // Takes a line; returns the entries that are new or other than before. One that is `gone` is shown no more.
  take(line) {
    this.changed = new Set();
    TOLD[line.type]?.(this, line.data, line);
    return this.changed;
  }

  name(id) { return this.people.get(id) || "Somebody"; }

  // The newest answer that can be stopped.
  get open() { return [...this.entries.values()].filter(stoppable).at(-1); }

  touch(entry) { this.changed.add(entry); return entry; }

  add(key, entry) { this.entries.set(key, entry); return this.touch(entry); }

  note(text) { const id = `note ${this.notes += 1}`; this.add(id, { kind: "note", id, text }); }

  input(data, line) {
    const known = this.entries.get(`input ${data.input_id}`);
    if (known) return this.touch(known);
    if (data.participant_id && data.name) this.people.set(data.participant_id, data.name);
    return this.add(`input ${data.input_id}`, {
      kind: "input", id: data.input_id, participant: data.participant_id, who: data.name || this.name(data.participant_id),
      time: line.time, text: "", open: true, standing: "",
    });
  }

  answer(line, id = line.generation_id ?? line.data.speech_id) {
    const known = this.entries.get(`answer ${id}`);
    if (known) return this.touch(known);
    return this.add(`answer ${id}`, {
      kind: "answer", id, time: line.time, respondsTo: line.responds_to, text: "", parts: [], calls: 0, tool: null, state: "making", reason: "",
      speech: "none", spoken: 0, mark: "", consumption: new Map(), jobs: new Map(), waits: null,
    });
  }

  settle(input, words) { if (input) { input.standing = words; this.touch(input); } }
}

export const stoppable = (entry) => entry.kind === "answer" && (entry.state === "making" || ["queued", "speaking"].includes(entry.speech));

// Puts words in their place: what is there already stays, a place that is beyond the end was a pause, or words that were lost.
function write(answer, text, at) {
  const there = signs(answer.text), piece = signs(text);
  const place = at ?? (there.length ? there.length + 1 : 0);
  if (there.slice(place, place + piece.length).join("") === text && there.length >= place + piece.length) return { at: place, length: piece.length };
  const hole = place - there.length;
  const bridge = hole <= 0 ? "" : hole === 1 ? "\n" : "\u2026".padEnd(hole);
  answer.text = there.slice(0, place).join("") + bridge + text;
  return { at: place, length: piece.length };
}

function snapshot(story, data) {
  for (const person of data.people) if (person.name) story.people.set(person.participant_id, person.name);
  const open = new Set();
  for (const one of data.generations) {
    const answer = story.answer({ data, responds_to: one.responds_to }, one.generation_id);
    answer.text = one.text;
    open.add(answer);
  }
  for (const one of data.speeches) {
    const answer = story.answer({ data, responds_to: one.responds_to }, one.speech_id);
    Object.assign(answer, { text: answer.text || one.text, speech: "speaking", spoken: one.spoken_chars, state: open.has(answer) ? "making" : "made" });
    open.add(answer);
  }
  for (const one of data.jobs) job(story, one, "at work", one.generation_id);
  if (!story.gap) return;
  story.gap = false;
  for (const answer of [...story.entries.values()].filter((entry) => stoppable(entry) && !open.has(entry))) {
    Object.assign(story.touch(answer), { state: "made", tool: null, mark: "what became of it was not told" });
  }
}

function job(story, data, words, generation) {
  const answer = story.jobs.get(data.job_id) ?? story.answer({ data: {} }, generation ?? `job ${data.job_id}`);
  if (!answer.text && !story.jobs.has(data.job_id) && answer.id === `job ${data.job_id}`) answer.state = "made";
  story.jobs.set(data.job_id, answer);
  const before = answer.jobs.get(data.job_id);
  answer.jobs.set(data.job_id, { id: data.job_id, label: data.label || data.tool || before?.label, words, runs: ["at work", "stopping…"].includes(words) || words === data.text });
  story.touch(answer);
}

function roomEvent(story, inner, line) {
  if (inner.type !== "message" || inner.status === "blocked" || story.events.has(inner.id)) return;
  story.events.set(inner.id, null);
  const text = inner.content?.body ?? "", from = inner.source?.participant_id;
  if (from) {
    const input = story.input({ input_id: inner.id, participant_id: from }, line);
    Object.assign(input, { text, open: false });
    return;
  }
  const alone = inner.correlation_id == null;
  const answer = story.answer({ ...line, responds_to: inner.responds_to ?? undefined }, inner.correlation_id ?? inner.id);
  story.events.set(inner.id, answer);
  if (alone) answer.state = "made";
  if (!answer.parts.length) write(answer, text, answer.text ? undefined : 0);
}

function speech(story, line, change) {
  const answer = story.answer(line);
  if (["cut", "dropped"].includes(answer.speech)) return null;
  if (!answer.text && line.data.text) write(answer, line.data.text, 0);
  if (line.data.spoken_chars !== undefined) answer.spoken = line.data.spoken_chars;
  return Object.assign(answer, change);
}

function ended(story, line, state, change = {}) {
  const answer = Object.assign(story.answer(line), { state, tool: null }, change);
  if (!answer.text && line.data.text) write(answer, line.data.text, 0);
  answer.gone = !answer.text && !answer.jobs.size && state !== "failed";
  return answer;
}

const TOLD = {
  "stream.ready": (story, data, line) => {
    if (line.anew) story.clear();
    for (const person of data.people) story.people.set(person.participant_id, person.name);
  },
  "stream.gap": (story) => { story.gap = true; story.note("Some of what happened is kept no longer."); },
  "stream.snapshot": (story, data) => snapshot(story, data),
  "input.started": (story, data, line) => { story.input(data, line); },
  "input.partial": (story, data) => { const input = story.entries.get(`input ${data.input_id}`); if (input?.open) story.touch(input).text = data.text; },
  "input.accepted": (story, data, line) => {
    if (!data.event_id) return; // an instruction: nobody said it
    story.events.set(data.event_id, null);
    Object.assign(story.input(data, line), { text: data.text ?? "", open: false });
  },
  "input.queued": (story, data) => {
    const input = story.entries.get(`input ${data.input_id}`), joins = data.delivery === "request_boundary";
    if (input) input.waits = joins;
    story.settle(input, joins ? "joins the answer" : "waits");
  },
  "input.delivered": (story, data) => {
    const input = story.entries.get(`input ${data.input_id}`);
    if (input) input.waits = false;
    story.settle(input, data.delivery === "request_boundary" ? "taken into the answer" : "being answered");
  },
  "input.settled": (story, data) => {
    const input = story.entries.get(`input ${data.input_id}`);
    if (!input) return;
    if (input.open) input.gone = true;
    input.disposition = data.disposition;
    input.waits = false;
    story.settle(input, SETTLED[data.disposition] ?? data.disposition);
  },
  "room.event": (story, data, line) => roomEvent(story, data.event ?? {}, line),
  "generation.started": (story, data, line) => { story.answer(line); },
  "text.delta": (story, data, line) => { write(story.answer(line), data.text, data.at); },
  "assistant.message": (story, data, line) => {
    const answer = story.answer(line), before = answer.parts.at(-1);
    if (before && before.calls === answer.calls) before.superseded = true; // no tool came between: these words take their place
    answer.parts.push({ ...write(answer, data.text, data.at), calls: answer.calls, superseded: false });
  },
  "tool.started": (story, data, line) => { const answer = story.answer(line); answer.calls += 1; answer.tool = data.tool; },
  "tool.ended": (story, data, line) => { story.answer(line).tool = null; },
  "generation.finished": (story, data, line) => { ended(story, line, "made"); },
  "generation.failed": (story, data, line) => { ended(story, line, "failed", { mark: `The answer failed (${data.error_category ?? "error"}). Ask again, or look at the server's log.` }); },
  "generation.detached": (story, data, line) => {
    const answer = ended(story, line, "gone", { reason: data.reason });
    if (answer.speech !== "cut") answer.mark = GIVEN_UP[data.reason] ?? "stopped";
  },
  "job.updated": (story, data, line) => job(story, data, data.text, line.generation_id),
  "speech.queued": (story, data, line) => { speech(story, line, { speech: "queued" }); },
  "speech.started": (story, data, line) => { speech(story, line, { speech: "speaking" }); },
  "speech.progress": (story, data, line) => { speech(story, line, { speech: "speaking" }); },
  "speech.ducked": (story, data, line) => { speech(story, line, { mark: "quieter while somebody speaks" }); },
  "speech.paused": (story, data, line) => { speech(story, line, { mark: "paused while somebody speaks" }); },
  "speech.resumed": (story, data, line) => { speech(story, line, { mark: "" }); },
  "speech.finished": (story, data, line) => { speech(story, line, { speech: "heard", mark: "" }); },
  "speech.cut": (story, data, line) => { speech(story, line, { speech: "cut", mark: `cut after ${((data.played_ms ?? 0) / 1000).toFixed(1)} s` }); },
  "speech.dropped": (story, data, line) => {
    const answer = speech(story, line, { speech: "dropped" });
    if (!answer) return;
    answer.mark = DROPPED[data.reason] ?? "never spoken";
    if (!answer.text && answer.state !== "making") answer.gone = true;
  },
  "consumption.updated": (story, data, line) => {
    const answer = story.events.get(data.event_id) ?? story.entries.get(`answer ${line.generation_id}`);
    if (answer) story.touch(answer).consumption.set(`${data.participant_id} ${data.channel_id}`, data);
  },
  "participant.joined": (story, data) => { story.people.set(data.participant_id, data.name); story.note(`${data.name ?? "Somebody"} joined`); },
  "participant.left": (story, data) => { story.note(`${data.name || story.name(data.participant_id)} left`); },
  "turn.latency": (story, data) => {
    const answer = [...story.entries.values()].find((entry) => entry.kind === "answer" && entry.respondsTo === data.input_id);
    if (answer) story.touch(answer).waits = data;
  },
  ...Object.fromEntries(Object.entries(JOBS).map(([type, words]) => [type, (story, data, line) => job(story, data, words, line.generation_id)])),
};
