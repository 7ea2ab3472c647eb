// What the page makes of the inbox's lines.

import assert from "node:assert/strict";
import test from "node:test";

const { Questions, age, outcome, plain, title } = await import(`${process.env.PAGE}/questions.mjs`);

const NOW = Date.parse("2026-01-02T12:00:00Z");
const at = (minutes) => new Date(NOW - minutes * 60_000).toISOString();
const entry = (id, more = {}) => ({
  question_id: id, room_id: "den", kind: "question", question: `${id}?`, options: ["yes", "no"], state: "open", started: "you", created_at: at(5), answerable: true, ...more,
});
const snapshot = (...hosts) => ({ type: "inbox.snapshot", data: { hosts: hosts.map(([host, questions, reachable = true]) => ({ host, questions, reachable })) } });
const ids = (entries) => entries.map((one) => one.question_id);

function told(...lines) {
  const questions = new Questions();
  for (const line of lines) questions.take(line);
  return questions;
}
const line = (what, entry) => ({ type: `question.${what}`, data: { question_id: entry.question_id }, entry });

test("questions are listed by hosts, this one first, the newest first", () => {
  const questions = told(snapshot(["zurich", [entry("z")]], [null, [entry("a", { created_at: at(9) }), entry("b", { created_at: at(1) })]], ["bern", [], false]));
  assert.deepEqual(questions.groups().map(({ host, reachable, open }) => [host, reachable, ids(open)]), [[null, true, ["b", "a"]], ["bern", false, []], ["zurich", true, ["z"]]]);
  assert.deepEqual(ids(questions.ofRoom("den")), ["b", "a"]);
  assert.deepEqual(questions.ofRoom("hall"), []);
});

test("a question that is opened comes on top, one that has ended goes, and never comes back", () => {
  const questions = told(snapshot([null, [entry("a")]]), line("opened", entry("b", { created_at: at(0) })));
  assert.deepEqual(ids(questions.open()), ["b", "a"]);
  const ended = entry("a", { state: "answered", end: "answered", ended_at: at(0), answer: { via: "button", options: [1], participant_id: "p", name: "Anna" } });
  assert.equal(questions.take(line("ended", ended)).state, "answered");
  assert.equal(questions.take(line("opened", entry("a"))), undefined);
  assert.deepEqual(ids(questions.open()), ["b"]);
  assert.deepEqual(outcome(ended), { who: "Anna", did: "answered", said: "no" });
});

test("questions and the cards on which an agent waits are counted apart, whatever is filtered", () => {
  const questions = told(snapshot([null, [entry("a"), entry("b", { kind: "blocking" }), entry("c", { kind: "approval", started: "agent" }), entry("d", { state: "dismissed", ended_at: at(1) })]]));
  assert.deepEqual(questions.counts, { questions: 1, cards: 2 });
  assert.deepEqual(ids(questions.open("mine")).sort(), ["a", "b"]);
  assert.deepEqual(ids(questions.open("agents")), ["c"]);
  assert.deepEqual([title(entry("a")), title({ kind: "blocking" }), title({ kind: "approval" })], ["", "Question \u00b7 the session waits", "Approval \u00b7 the session waits"]);
});

test("what was answered or dismissed is listed for a day; what ended otherwise is not", () => {
  const ended = (id, state, minutes) => entry(id, { state, end: state, ended_at: at(minutes) });
  const questions = told(snapshot([null, [ended("a", "answered", 1439), ended("b", "answered", 1441), ended("c", "dismissed", 1), ended("d", "withdrawn", 1)]]));
  assert.deepEqual(ids(questions.answered(NOW)), ["c", "a"]);
  assert.deepEqual(ids(questions.answered(NOW + 3_600_000)), ["c"]);
});

test("a host that is told of anew replaces what was known of it alone", () => {
  const questions = told(snapshot([null, [entry("a")]], ["bern", [entry("b")]]), { type: "inbox.host", data: { host: "bern", reachable: false, questions: [] } });
  assert.deepEqual(questions.groups().map(({ host, reachable, open }) => [host, reachable, ids(open)]), [[null, true, ["a"]], ["bern", false, []]]);
});

test("whoever did it is named as far as it is known", () => {
  assert.deepEqual(outcome({ end: "dismissed", options: [] }), { who: "A host", did: "dismissed it", said: "" });
  assert.equal(outcome({ end: "answered", options: [], answer: { text: "later", participant_id: "web-1" } }).who, "Somebody");
  assert.equal(outcome({ end: "answered", options: [], answer: { text: "later", participant_id: "web-1" } }).said, "later");
  assert.equal(outcome({ end: "withdrawn", options: [] }).who, "The agent");
});

test("an age is told in minutes, hours, days", () => {
  assert.deepEqual([0, 1, 59, 60, 47 * 60, 48 * 60, 366 * 1440].map((minutes) => age(at(minutes), NOW)), ["just now", "1 min ago", "59 min ago", "1 h ago", "47 h ago", "2 days ago", "366 days ago"]);
  assert.equal(age(new Date(NOW + 60_000).toISOString(), NOW), "just now");
});

test("signs that turn or hide what stands around them are shown by their numbers, all others as they are", () => {
  assert.equal(plain("pay \u202e0001\u202c now"), "pay [U+202E]0001[U+202C] now");
  assert.equal(plain("\u2066a\u2069\u0000\u0008b\r\nc\td"), "[U+2066]a[U+2069][U+0000][U+0008]b\nc\td");
  for (const text of ["<b>x</b> &amp; https://a.example", "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd", "caf\u00e9 \u{1f600}\u200d", ""]) assert.equal(plain(text), text);
  for (let code = 0; code < 0x3000; code += 1) {
    const shown = plain(String.fromCharCode(code));
    assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(shown));
  }
});
