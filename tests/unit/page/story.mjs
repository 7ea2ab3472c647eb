// What the page makes of a room's lines.

import assert from "node:assert/strict";
import test from "node:test";

const { Story, consumed, pieces, stoppable, wholeWords } = await import(`${process.env.PAGE}/story.mjs`);

const G = { generation_id: "g" };
const looks = (answer) => pieces(answer).map(({ look, text }) => `${look}:${text}`);
const answer = (story, id = "g") => story.entries.get(`answer ${id}`);

// A story of lines given as [type, data, fields].
function told(...lines) {
  const story = new Story();
  for (const [type, data = {}, fields = G] of lines) story.take({ type, data, ...fields });
  return story;
}

const snapshot = (data) => ["stream.snapshot", { seq: 9, people: [], generations: [], speeches: [], jobs: [], ...data }, {}];
const MADE = [["generation.started"], ["text.delta", { text: "One two", at: 0 }], ["text.delta", { text: " three", at: 7 }]];

test("an answer is grey until spoken, black as far as heard, and struck where it was cut", () => {
  assert.deepEqual(looks(answer(told(...MADE))), ["rest:One two three"]);
  const spoken = [...MADE, ["speech.queued"], ["generation.finished", { text: "One two three" }]];
  assert.deepEqual(looks(answer(told(...spoken))), ["rest:One two three"]);
  const sounds = [...spoken, ["speech.started"], ["speech.progress", { spoken_chars: 9 }]];
  assert.deepEqual(looks(answer(told(...sounds))), ["lit:One two ", "rest:three"]);
  assert.deepEqual(looks(answer(told(...sounds, ["speech.finished", { spoken_chars: 13 }]))), ["lit:One two three"]);
  const cut = told(...sounds, ["speech.cut", { spoken_chars: 4, played_ms: 1234, reason: "barge_in" }], ["speech.progress", { spoken_chars: 13 }]);
  assert.deepEqual(looks(answer(cut)), ["lit:One ", "struck:two three"]);
  assert.equal(answer(cut).mark, "cut after 1.2 s");
});

test("an answer that somebody speaks over says so until it comes back, ends or is cut", () => {
  const sounds = [...MADE, ["speech.queued"], ["speech.started"], ["speech.progress", { spoken_chars: 9 }], ["speech.ducked", { position_ms: 400, after_ms: 60 }]];
  assert.equal(answer(told(...sounds)).mark, "quieter while somebody speaks");
  assert.equal(answer(told(...sounds, ["speech.finished", { spoken_chars: 13 }])).mark, "");
  const paused = [...sounds, ["speech.paused", { position_ms: 560, after_ms: 220 }]];
  assert.equal(answer(told(...paused)).mark, "paused while somebody speaks");
  assert.deepEqual(looks(answer(told(...paused))), ["lit:One two ", "rest:three"]);
  assert.equal(answer(told(...paused, ["speech.resumed", { position_ms: 400, why: "noise" }])).mark, "");
  assert.equal(answer(told(...paused, ["speech.cut", { spoken_chars: 4, played_ms: 1234, reason: "barge_in" }])).mark, "cut after 1.2 s");
});

test("an answer that nobody speaks is black when it is made", () => {
  assert.deepEqual(looks(answer(told(...MADE, ["generation.finished", { text: "" }]))), ["lit:One two three"]);
});

test("what never sounds is struck whole", () => {
  const story = told(...MADE, ["speech.queued"], ["speech.dropped", { reason: "superseded" }], ["generation.detached", { reason: "superseded" }]);
  assert.deepEqual(looks(answer(story)), ["struck:One two three"]);
  assert.equal(answer(story).mark, "given up for what was said next");
});

test("words that others replace are struck, words before a tool are not", () => {
  const message = (text, at) => ["assistant.message", { text, at }];
  const replaced = told(["generation.started"], message("Monday.", 0), message("Tuesday.", 8), ["generation.finished", { text: "Tuesday." }]);
  assert.deepEqual(looks(answer(replaced)), ["corrected:Monday.", "lit:\nTuesday."]);
  const tool = told(["generation.started"], message("A moment.", 0), ["tool.started", { tool: "clock" }], message("It is noon.", 10));
  assert.deepEqual(looks({ ...answer(tool), state: "made" }), ["lit:A moment.\nIt is noon."]);
  assert.equal(answer(tool).tool, "clock");
});

test("lines that come twice, late, or after lost ones change nothing that is whole", () => {
  const whole = told(...MADE, ...MADE, ["assistant.message", { text: "One two three", at: 0 }], ["text.delta", { text: "two", at: 4 }]);
  assert.equal(answer(whole).text, "One two three");
  const lost = told(["generation.started"], ["text.delta", { text: " three", at: 7 }]);
  assert.equal(Array.from(answer(lost).text).length, 13);
  lost.take({ type: "assistant.message", data: { text: "One two three", at: 0 }, ...G });
  assert.equal(answer(lost).text, "One two three");
});

test("a snapshot in the middle of an answer goes on where it is, and doubles nothing", () => {
  const story = told(["generation.started"], snapshot({ generations: [{ generation_id: "g", text: "One two" }] }), ["text.delta", { text: "two", at: 4 }], ["text.delta", { text: " three", at: 7 }]);
  assert.equal(answer(story).text, "One two three");
  assert.equal(story.entries.size, 1);
  const sounding = told(snapshot({ speeches: [{ speech_id: "g", text: "One two", spoken_chars: 4 }] }));
  assert.deepEqual(looks(answer(sounding)), ["lit:One ", "rest:two"]);
});

test("behind a gap, what is open and not in the snapshot is no longer waited for", () => {
  const story = told(...MADE, ["stream.gap", { from: 3, to: 8 }, {}], snapshot());
  assert.equal(stoppable(answer(story)), false);
  assert.equal(story.open, undefined);
});

test("characters are counted as the server counts them", () => {
  const story = told(["generation.started"], ["text.delta", { text: "🦊🦊 fox", at: 0 }], ["text.delta", { text: "!", at: 6 }], ["speech.started"], ["speech.progress", { spoken_chars: 2 }]);
  assert.deepEqual(looks(answer(story)), ["lit:🦊🦊", "rest: fox!"]);
  assert.equal(wholeWords(Array.from("one two"), 5), 4);
});

test("each input says what became of it", () => {
  const one = { input_id: "i" };
  const story = told(["input.started", { ...one, name: "Anna" }], ["input.partial", { ...one, text: "no Tu" }], ["input.accepted", { ...one, event_id: "i", text: "No, Tuesday." }]);
  const input = story.entries.get("input i");
  for (const [type, data, words] of [
    ["input.queued", { delivery: "request_boundary" }, "joins the answer"],
    ["input.delivered", { delivery: "request_boundary" }, "taken into the answer"],
    ["input.settled", { disposition: "answered" }, "answered"],
  ]) {
    story.take({ type, data: { ...one, ...data } });
    assert.equal(input.standing, words);
  }
  story.take({ type: "room.event", data: { event: { id: "i", type: "message", content: { body: "No, Tuesday." }, source: { participant_id: "a" } } } });
  assert.equal(story.entries.size, 1);
  const noise = told(["input.started", { input_id: "n" }], ["input.settled", { input_id: "n", disposition: "rejected" }]);
  assert.equal(noise.entries.get("input n").gone, true);
});

test("people's ways of having heard an answer are one each, the one that says most", () => {
  const far = (participant_id, channel_id, state, more = {}) => ["consumption.updated", { event_id: "e", participant_id, channel_id, state, ...more }];
  const story = told(...MADE, far("a", "voice", "playing"), far("a", "voice", "cut", { word: "two" }), far("a", "web", "read"), far("b", "web", "delivered"), far("c", "voice", "queued"));
  assert.deepEqual(consumed(answer(story), (id) => id.toUpperCase()), ["A was cut at \u201ctwo\u201d", "B has it"]);
});

test("how far a stored answer has come is shown with it, whatever the line names", () => {
  const event = { id: "e", type: "message", correlation_id: "g", content: { body: "One two three" }, source: {} };
  const far = ["consumption.updated", { event_id: "e", participant_id: "a", channel_id: "web", state: "read" }, {}];
  assert.deepEqual(consumed(answer(told(...MADE, ["room.event", { event }], far)), (id) => id), ["a has read it"]);
});

test("a job is shown with the answer that began it, and ends there", () => {
  const job = { job_id: "j", label: "Trains" };
  const story = told(...MADE, ["job.queued", job], ["job.updated", { ...job, text: "half way" }], ["generation.finished", { text: "" }]);
  assert.deepEqual([...answer(story).jobs.values()], [{ id: "j", label: "Trains", words: "half way", runs: true }]);
  story.take({ type: "job.returned", data: job, generation_id: "other" });
  assert.deepEqual([...answer(story).jobs.values()], [{ id: "j", label: "Trains", words: "done", runs: false }]);
  assert.equal(story.entries.size, 1);
});
