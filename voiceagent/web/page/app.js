// The page: joins a room, shows what the room tells, and keeps the line alive.

import { Asked } from "./asked.js";
import { Cards } from "./card.js";
import { connect, newId } from "./client.js";
import { Inbox } from "./inbox.js";
import { Judgments } from "./judgments.js";
import { Levels } from "./levels.js";
import { Line } from "./line.js";
import { Server, status } from "./net.js";
import { Push } from "./push.js";
import { Questions, outcome, plain } from "./questions.js";
import { Status } from "./status.js";
import { Transcript } from "./transcript.js";
import { Views } from "./views.js";

const $ = (id) => document.getElementById(id);
const STATES = { idle: "idle", listening: "listening", thinking: "thinking", speaking: "speaking" };
const token = new URLSearchParams(location.hash.slice(1)).get("token");

let self = null;
let talk = null;
let inRoom = false;
const levels = new Levels();
const transcript = new Transcript($("transcript"), $("empty"), () => self, (text) => { $("announce").textContent = text; }, (what) => talk?.halt(what));
const judgments = new Judgments({
  mind: $("mind"), thought: $("thought"), wishes: $("wishes"), listens: $("listens"), labels: $("labels"), count: $("label-count"), save: $("save-labels"),
}, transcript);

function key() {
  let known = sessionStorage.getItem("key");
  if (!known) sessionStorage.setItem("key", known = newId());
  return known;
}

function banner(text) {
  $("banner").hidden = !text;
  $("banner").textContent = text ?? "";
}

function showState(state) {
  const known = STATES[state] ?? "idle";
  $("state").dataset.state = $("orb").dataset.state = known;
  $("state").textContent = known;
}

function microphoneTrouble(error) {
  const why = {
    NotAllowedError: "The browser was not allowed to use the microphone.",
    NotFoundError: "No microphone was found.",
    NotReadableError: "Another program holds the microphone.",
    OverconstrainedError: "That microphone is no longer there.",
  }[error.name] ?? (navigator.mediaDevices ? "The microphone could not be opened." : "Browsers give the microphone to https pages and to localhost only.");
  return `${why} You can still listen and type.`;
}

class Talk {
  constructor(room, name) {
    this.room = room; this.name = name; this.people = new Map(); this.ended = false; this.tries = 0; this.live = false; this.unsent = null;
    this.server = new Server(room, key(), token);
    this.line = new Line(this.server, $("line"), (what) => this.lineChanged(what));
  }

  async start(withMicrophone) {
    await Promise.race([levels.wake(), new Promise((done) => setTimeout(done, 300))]);
    if (withMicrophone) await this.openMicrophone();
    const answer = await this.line.join(this.name, key());
    self = answer.participant;
    sessionStorage.setItem("joined", JSON.stringify({ room: this.room, name: this.name, microphone: withMicrophone }));
    this.feed = connect({ room: this.room, key: key(), token, after: 0 });
    this.feed.on("*", (line) => this.take(line));
    this.feed.on("connection", ({ up, why }) => this.connection(up, why));
    this.showMute();
    listDevices(this);
  }

  async openMicrophone(deviceId) {
    try {
      await this.line.listen(deviceId);
      levels.watch("mic", this.line.microphone, (value) => { $("mic-level").value = this.line.muted ? 0 : value; });
      this.trouble = null;
    } catch (error) {
      this.trouble = microphoneTrouble(error);
    }
    banner(this.trouble);
    this.showMute();
  }

  connection(up, why) {
    banner(up ? this.trouble : why ?? "The server does not answer. Trying again…");
  }

  lineChanged(what) {
    if (what === "sound") {
      levels.watch("line", this.line.remote, (value) => { $("agent-level").value = value; $("orb").style.setProperty("--level", value.toFixed(2)); });
      $("line").play().catch(() => { banner("The browser keeps the sound off until you press a key or click."); });
    }
    if (what === "connected") { this.tries = 0; banner(this.trouble); }
    if (what === "lost") this.rejoin();
  }

  async rejoin() {
    if (this.ended || this.rejoining) return;
    this.rejoining = true;
    while (!this.ended) {
      banner("The line is lost. Calling again…");
      this.line.drop();
      await new Promise((done) => setTimeout(done, Math.min(3000, 500 * 2 ** this.tries++)));
      try { await this.line.join(this.name, key()); break; } catch (error) { if (error.status && error.status < 500 && error.status !== 429) { banner(error.message); break; } }
    }
    this.rejoining = false;
  }

  take(event) {
    const { type, data } = event;
    if (type === "stream.ready") {
      transcript.host = data.host;
      if (event.anew) this.live = false;
      if (data.epoch !== this.line.epoch) this.rejoin();
      this.people = new Map(data.people.map((person) => [person.participant_id, { name: person.name, muted: false }]));
      this.showPeople();
    }
    if (type === "agent.state") showState(data.state);
    if (type === "participant.joined") this.people.set(data.participant_id, { name: data.name, muted: false });
    if (type === "participant.left") this.people.delete(data.participant_id);
    if (type === "participant.muted" && this.people.has(data.participant_id)) this.people.get(data.participant_id).muted = data.muted;
    if (type.startsWith("participant.")) this.showPeople();
    transcript.take(event);
    judgments.take(event);
    if (type === "stream.snapshot") this.live = transcript.live = true;
    if (type === "room.event") this.haveRead(data.event);
  }

  // Tells the room that an answer has been before somebody's eyes.
  haveRead(said) {
    if (!this.live || document.visibilityState !== "visible" || said.type !== "message" || said.source.participant_id) return;
    this.feed.command("message.read", { event_id: said.id }).catch(() => {});
  }

  async halt(what) {
    const type = what.job_id ? "job.cancel" : what.input_id ? "input.withdraw" : "generation.cancel";
    const ack = await this.feed.command(type, what).catch((error) => ({ error }));
    if (ack.error && ack.error.code !== "not_active") banner(ack.error.message);
  }

  showPeople() {
    $("people").replaceChildren(...[...this.people].map(([id, person]) => {
      const item = document.createElement("li");
      item.classList.toggle("muted", person.muted);
      const name = item.appendChild(document.createElement("bdi"));
      name.textContent = person.name ?? "Somebody";
      const note = item.appendChild(document.createElement("small"));
      note.textContent = [id === self ? "you" : "", person.muted ? "muted" : ""].filter(Boolean).join(", ");
      return item;
    }));
  }

  async toggleMute() {
    if (!this.line.microphone) { await this.openMicrophone(); return; }
    this.line.mute(!this.line.muted);
    this.showMute();
    this.server.send("mute", { muted: this.line.muted }).catch(() => {});
  }

  showMute() {
    const off = this.line.muted || !this.line.microphone;
    $("mute").setAttribute("aria-pressed", String(off));
    $("mute").setAttribute("aria-label", this.line.microphone ? (off ? "Unmute the microphone" : "Mute the microphone") : "Open the microphone");
  }

  async type(text) {
    const id = this.unsent?.text === text ? this.unsent.id : newId(); // sent again, it is still said once
    this.unsent = { text, id };
    const ack = await this.feed.command("input.submit", { text }, id).catch(() => null);
    if (ack) this.unsent = null;
    banner(ack?.accepted ? this.trouble : ack?.error?.message ?? "The message was not sent: the server does not answer.");
    return Boolean(ack?.accepted);
  }

  // A digit picks an option of the question that was said aloud just now, as on a telephone.
  press(digits) { this.feed.command("keypad.press", { digits }).catch(() => {}); }

  end() {
    this.ended = true;
    this.feed?.close();
    this.line.leave();
    levels.forget("mic");
    levels.forget("line");
  }
}

async function join(room, name, withMicrophone) {
  $("join-button").disabled = $("join-quiet").disabled = true;
  $("join-error").hidden = true;
  talk = new Talk(room, name);
  transcript.clear();
  judgments.open(room);
  try {
    await talk.start(withMicrophone);
    localStorage.setItem("name", name);
    localStorage.setItem("room", room);
    showTalk(true);
  } catch (error) {
    talk.end();
    talk = null;
    sessionStorage.removeItem("joined");
    $("join-error").textContent = error.status ? error.message : "The server does not answer. Is it still running?";
    $("join-error").hidden = false;
  }
  $("join-button").disabled = $("join-quiet").disabled = false;
}

function showTalk(on) {
  inRoom = on;
  $("state").hidden = $("where").hidden = !on;
  views.show(null);
  views.update();
  showAsked();
  $("where").textContent = on ? `room ${talk.room}` : "";
  $("panel").open = matchMedia("(min-width: 56.01rem)").matches;
  if (on) $("text").focus(); else { $("name").focus(); banner(null); showState("idle"); }
}

function leave() {
  sessionStorage.removeItem("joined");
  talk?.end();
  talk = null;
  showTalk(false);
}

// -- the inbox -------------------------------------------------------------------------------------------------------------

let wanted = new URLSearchParams(location.search).get("view") === "inbox"; // a notification has opened the page
const questions = new Questions();
const roomCards = new Cards($("room-asked"), give, { empty: () => $("text").focus() });
const inbox = new Inbox({
  box: $("inbox"), title: $("inbox-title"), filters: $("filters"), list: $("inbox-list"), empty: $("inbox-empty"), away: $("inbox-away"), answered: $("answered"), answeredBox: $("answered-box"),
}, questions, give, enter);
const asked = new Asked({ key: key(), token }, takeAsked, (up, why) => {
  if (why) { $("show-inbox").hidden = $("show-status").hidden = true; questions.clear(); views.show(null); showAsked(); return; }
  if (up) {
    $("show-inbox").hidden = $("show-status").hidden = false;
    push.offer();
    if (wanted) views.show("inbox");
    wanted = false;
  }
  inbox.connection(up);
});
const standing = new Status({ title: $("status-title"), sum: $("status-sum"), trouble: $("status-trouble"), list: $("rooms") }, () => asked.overview(), enter);
const views = new Views(() => [[$("join"), !inRoom], [$("talk"), inRoom]], {
  inbox: { box: $("inbox"), button: $("show-inbox"), view: inbox }, status: { box: $("status"), button: $("show-status"), view: standing },
}, $("transcript"));

setInterval(() => { roomCards.tick(); inbox.tick(); }, 20_000);
const push = new Push($("notify"), (...request) => asked.ask(...request), (view) => views.show(view), banner);

// Gives an answer or a dismissal; returns why it was not taken.
async function give(entry, type, data) {
  let ack;
  try { ack = await asked.command(type, data); } catch (error) { return error.status ? error.message : "The server does not answer: try again."; }
  if (ack.question) { questions.take({ type: "question.ended", data: {}, entry: { ...ack.question, host: entry.host } }); showAsked(); }
  const left = questions.counts;
  $("announce").textContent = ack.accepted ? `${ack.disposition === "dismissed" ? "Dismissed" : "Answered"}. ${left.questions + left.cards} left.` : ack.error.message;
  if (!ack.accepted && ack.error.code === "already_ended") banner(`Not taken: ${ack.error.message}`);
  return ack.accepted ? "" : ack.error.message;
}

function takeAsked(line) {
  const before = line.entry && questions.open().some((entry) => entry.question_id === line.entry.question_id);
  const entry = questions.take(line);
  if (entry && line.type === "question.opened") $("announce").textContent = `A question: ${plain(entry.question)}`;
  if (entry && line.type === "question.ended" && before) {
    const { who, did, said } = outcome(entry);
    $("announce").textContent = plain(`${who} ${did}${said ? `: ${said}` : ""}`);
  }
  showAsked();
}

function showAsked() {
  const { questions: waiting, cards } = questions.counts;
  for (const [box, number] of [[$("count-questions"), waiting], [$("count-cards"), cards]]) { box.textContent = number; box.hidden = !number; }
  const told = [[waiting, "question"], [cards, "card"]].filter(([number]) => number).map(([number, what]) => `${number} ${what}${number === 1 ? "" : "s"}`);
  $("show-inbox").setAttribute("aria-label", told.length ? `Inbox: ${told.join(" and ")}` : "Inbox");
  const here = talk ? questions.ofRoom(talk.room) : [];
  transcript.keep(() => { roomCards.show(here); $("room-asked").hidden = !here.length; });
  inbox.draw();
}

// Opens a room from the inbox or the status.
function enter(room) {
  if (talk?.room === room) { views.show(null); return; }
  const name = talk?.name ?? localStorage.getItem("name");
  if (talk) leave(); else views.show(null);
  $("room").value = room;
  if (name) { $("name").value = name; $("join-button").focus(); }
}

async function listDevices(current) {
  if (!navigator.mediaDevices) return;
  const devices = await navigator.mediaDevices.enumerateDevices();
  const fill = (select, kind, chosen) => {
    const options = devices.filter((device) => device.kind === kind).map((device, index) => new Option(device.label || `${kind === "audioinput" ? "Microphone" : "Loudspeaker"} ${index + 1}`, device.deviceId));
    select.replaceChildren(...(options.length ? options : [new Option(kind === "audioinput" ? "No microphone" : "The system's choice", "")]));
    select.disabled = options.length === 0;
    if (chosen) select.value = chosen;
  };
  fill($("input"), "audioinput", current.line.track?.getSettings().deviceId);
  fill($("output"), "audiooutput", $("line").sinkId);
  if (!$("line").setSinkId) $("output").disabled = true;
}

async function showStatus() {
  try {
    const told = await status();
    transcript.agent = told.agent ?? "Agent";
    $("brain").textContent = told.brain;
    $("advice").textContent = told.advice;
    $("join-brain").textContent = `Brain: ${told.brain}. ${told.advice}`;
    $("models").replaceChildren(...Object.entries(told.models).flatMap(([role, model]) => {
      const term = document.createElement("dt"), text = document.createElement("dd");
      term.textContent = role;
      text.textContent = model;
      return [term, text];
    }));
    if (told.token_required && !token) { $("join-error").textContent = "This server needs an invitation: open the link you were sent."; $("join-error").hidden = false; }
  } catch { $("join-brain").textContent = "The server does not answer."; }
}

$("join-form").addEventListener("submit", (event) => { event.preventDefault(); join($("room").value.trim(), $("name").value.trim(), true); });
$("join-quiet").addEventListener("click", () => { if ($("join-form").reportValidity()) join($("room").value.trim(), $("name").value.trim(), false); });
$("leave").addEventListener("click", leave);
$("mute").addEventListener("click", () => talk?.toggleMute());
$("compose").addEventListener("submit", async (event) => {
  event.preventDefault();
  transcript.toEnd();
  const text = $("text").value.trim();
  if (!text || !talk) return;
  $("text").value = "";
  if (!(await talk.type(text)) && !$("text").value) $("text").value = text;
});
$("input").addEventListener("change", () => talk?.openMicrophone($("input").value));
$("output").addEventListener("change", () => $("line").setSinkId?.($("output").value).catch(() => banner("That loudspeaker cannot be used.")));
navigator.mediaDevices?.addEventListener("devicechange", () => talk && listDevices(talk));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && views.name) { views.show(null); return; }
  if (event.key === "Escape" && talk) { const open = transcript.story.open; if (open) talk.halt({ generation_id: open.id }); }
  if (/^[0-9]$/.test(event.key) && talk && !views.name && questions.ofRoom(talk.room).some((entry) => entry.said) && !event.target.closest("input, select")) talk.press(event.key);
  if (event.key.toLowerCase() === "m" && !event.ctrlKey && !event.metaKey && !event.altKey && talk && !views.name && !event.target.closest("input, select")) talk.toggleMute();
});
for (const gesture of ["pointerdown", "keydown"]) document.addEventListener(gesture, () => { if (talk) { levels.wake(); $("line").play().catch(() => {}); } });
addEventListener("pagehide", () => talk?.end());
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

$("name").value = localStorage.getItem("name") ?? "";
$("room").value = new URLSearchParams(location.search).get("room") ?? localStorage.getItem("room") ?? "lobby";
showStatus();
const before = JSON.parse(sessionStorage.getItem("joined") ?? "null");
const named = new URLSearchParams(location.search).get("room");
if (before && (!named || named === before.room)) join(before.room, before.name, before.microphone); else if ($("name").value) $("join-button").focus(); else $("name").focus();
