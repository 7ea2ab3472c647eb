// The questions that agents ask people, of all rooms and hosts, as the inbox's lines tell them. Nothing here is drawn.

const DAY_MS = 24 * 3_600_000;
const STARTED = { all: () => true, mine: (entry) => entry.started === "you", agents: (entry) => entry.started === "agent" };
// Marks that turn the direction of what stands around them, and control signs: shown by their numbers instead.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

export const FILTERS = Object.keys(STARTED);

// A text of somebody else as it may be shown: every sign in its place, nothing that turns or hides others.
export function plain(text) {
  return String(text ?? "").replaceAll("\r\n", "\n").replace(UNSEEN, (sign) => `[U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
}

// How long ago something was, in words.
export function age(then, now) {
  const minutes = Math.floor((now - Date.parse(then)) / 60_000);
  if (!(minutes >= 1)) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / (24 * 60))} days ago`;
}

// What kind of card it is, for those on which an agent waits.
export const title = ({ kind }) => ({ blocking: "Question \u00b7 the session waits", approval: "Approval \u00b7 the session waits" })[kind] ?? "";

// What somebody answered, and who and how; the parts are texts to be shown apart.
export function outcome(entry) {
  const { answer, end } = entry, who = answer?.name ?? (answer?.participant_id ? "Somebody" : "A host");
  if (end === "answered") return { who, did: "answered", said: [...(answer?.options ?? []).map((place) => entry.options[place]), ...(answer?.text ? [answer.text] : [])].join(", ") };
  if (end === "dismissed") return { who, did: "dismissed it", said: "" };
  if (end === "withdrawn") return { who: "The agent", did: "took it back", said: "" };
  return { who: "It", did: "ended with its room", said: "" };
}

export class Questions {
  constructor() { this.clear(); }

  clear() { this.hosts = new Map(); this.known = false; }

  // Takes an object of the inbox's stream; returns the entry that it changed, if it was one.
  take({ type, data, entry }) {
    if (type === "inbox.snapshot") {
      this.hosts = new Map(data.hosts.map((host) => [host.host, { reachable: host.reachable, entries: this.entries(host) }]));
      this.known = true;
    }
    if (type === "inbox.host") this.hosts.set(data.host, { reachable: data.reachable, entries: this.entries(data) });
    return type.startsWith("question.") && entry ? this.put(entry, type) : undefined;
  }

  entries({ host, questions }) { return new Map(questions.map((entry) => [entry.question_id, { ...entry, host }])); }

  put(entry, type) {
    const here = this.hosts.get(entry.host ?? null);
    const before = here?.entries.get(entry.question_id);
    if (!here || (before && before.state !== "open" && entry.state === "open")) return undefined; // an end is for good
    const after = { ...before, ...entry, host: entry.host ?? null, said: before?.said || type === "question.spoken" };
    here.entries.set(entry.question_id, after);
    return after;
  }

  // What is open, the newest first.
  open(filter = "all", host = undefined) {
    const all = [...this.hosts].filter(([name]) => host === undefined || name === host).flatMap(([, { entries }]) => [...entries.values()]);
    return all.filter((entry) => entry.state === "open" && STARTED[filter](entry)).sort(newest("created_at"));
  }

  ofRoom(room) { return this.open("all", null).filter((entry) => entry.room_id === room); }

  // Hosts with what is open on them; this one first.
  groups(filter = "all") {
    const names = [...this.hosts.keys()].sort((one, two) => (one === null ? -1 : two === null ? 1 : one < two ? -1 : 1));
    return names.map((host) => ({ host, reachable: this.hosts.get(host).reachable, open: this.open(filter, host) }));
  }

  // What people have answered or dismissed in the last day, the newest first.
  answered(now, filter = "all") {
    const all = [...this.hosts.values()].flatMap(({ entries }) => [...entries.values()]);
    const recent = all.filter((entry) => ["answered", "dismissed"].includes(entry.state) && now - Date.parse(entry.ended_at) < DAY_MS);
    return recent.filter(STARTED[filter]).sort(newest("ended_at"));
  }

  // How much waits: questions, and apart from them cards on which an agent waits.
  get counts() {
    const open = this.open();
    const questions = open.filter((entry) => entry.kind === "question").length;
    return { questions, cards: open.length - questions };
  }
}

// The texts tell microseconds, too, which a date does not keep.
const newest = (when) => (one, two) => Date.parse(two[when]) - Date.parse(one[when]) || (one[when] === two[when] ? 0 : one[when] < two[when] ? 1 : -1);
