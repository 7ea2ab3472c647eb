// The page's client against a server that a test plays.

import assert from "node:assert/strict";
import test from "node:test";

const { connect } = await import(`${process.env.PAGE}/client.mjs`);

const ready = (after, epoch = "e") => ({ type: "stream.ready", data: { epoch, after, host: true, people: [] } });
const line = (seq) => ({ seq, type: "fact", data: {} });
const soon = () => new Promise((done) => { setImmediate(done); });

async function until(look) {
  for (let turns = 0; turns < 10_000; turns += 1) { if (look()) return; await soon(); }
  assert.fail("waited in vain");
}

// Sockets that a test opens, speaks through and breaks; in a server that answers `answer` to every request.
function server(answer = () => { throw new TypeError("nobody answers"); }) {
  const sockets = [], requests = [];
  class Socket {
    constructor(address, protocols) { Object.assign(this, { address: new URL(address), protocols, sent: [] }); sockets.push(this); }
    send(text) { this.sent.push(JSON.parse(text)); }
    say(...lines) { for (const one of lines) this.onmessage?.({ data: JSON.stringify(one) }); }
    break() { this.onclose?.(); }
    close() {}
  }
  const fetch = async (address, options = {}) => { requests.push({ address: new URL(address), ...options }); return answer(new URL(address), options); };
  const open = (options = {}) => {
    const room = connect({ room: "lobby", url: "http://host/", WebSocket: Socket, fetch, after: 0, ...options }), lines = [], states = [];
    room.on("*", (one) => lines.push(one));
    room.on("connection", (state) => states.push(state));
    return { room, lines, states };
  };
  return { sockets, requests, open };
}

test("it resumes behind the last number, and gives no line twice", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { sockets, open } = server();
  const { room, lines } = open({ token: "t", key: "k" });
  await until(() => sockets.length === 1);
  assert.equal(sockets[0].address.href, "ws://host/v1/rooms/lobby/stream?after=0");
  assert.deepEqual(sockets[0].protocols, ["voiceagent.v1", "bearer.t", "key.k"]);
  sockets[0].say(ready(0), line(1), line(2));
  sockets[0].break();
  await until(() => { t.mock.timers.tick(100); return sockets.length === 2; });
  assert.equal(sockets[1].address.search, "?after=2&epoch=e");
  sockets[1].say(ready(2, "later"), line(2), line(3), { type: "stream.snapshot", data: { seq: 5 } });
  assert.deepEqual(lines.map((one) => one.seq ?? one.type), ["stream.ready", 1, 2, "stream.ready", 3, "stream.snapshot"]);
  assert.equal(lines[3].anew, false);
  assert.equal(room.last, 5);
  room.close();
});

test("numbers that begin anew are said to, and those after a gap go on behind it", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { sockets, open } = server();
  const { room, lines } = open();
  await until(() => sockets.length === 1);
  sockets[0].say(ready(0), line(7));
  sockets[0].break();
  await until(() => { t.mock.timers.tick(100); return sockets.length === 2; });
  sockets[1].say(ready(0, "other"), line(1), { type: "stream.gap", data: { from: 2, to: 40 } }, line(41));
  assert.equal(lines[2].anew, true);
  assert.deepEqual(lines.slice(3).map((one) => one.seq ?? one.type), [1, "stream.gap", 41]);
  room.close();
});

test("a command that was not acknowledged is sent again under its id", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { sockets, open } = server();
  const { room, lines } = open();
  await until(() => sockets.length === 1);
  const asked = room.command("input.submit", { text: "Hello" }, "00000001");
  sockets[0].say(ready(0));
  assert.deepEqual(sockets[0].sent, [{ type: "input.submit", id: "00000001", data: { text: "Hello" } }]);
  sockets[0].break();
  await until(() => { t.mock.timers.tick(100); return sockets.length === 2; });
  sockets[1].say(ready(0));
  assert.deepEqual(sockets[1].sent, sockets[0].sent);
  sockets[1].say({ type: "ack", data: { id: "00000001", accepted: true, duplicate: true, disposition: "answered" } });
  assert.equal((await asked).disposition, "answered");
  const unheard = room.command("generation.cancel", { generation_id: "g" });
  t.mock.timers.tick(15_000);
  await assert.rejects(unheard, /does not answer/);
  assert.deepEqual(lines.map((one) => one.type), ["stream.ready", "stream.ready"]);
  room.close();
});

test("where no socket opens it follows by events, and commands go by POST", async () => {
  const text = `id: 3\ndata: ${JSON.stringify(ready(0))}\n\ndata: ${JSON.stringify(line(3))}\n\n`;
  const { sockets, requests, open } = server((address, { signal }) => (address.pathname.endsWith("commands")
    ? Response.json({ id: "00000001", accepted: true, disposition: "queued" })
    : new Response(new ReadableStream({ start(body) {
      for (const half of [text.slice(0, 40), text.slice(40)]) body.enqueue(new TextEncoder().encode(half));
      signal.addEventListener("abort", () => body.error(signal.reason));
    } }))));
  const { room, lines, states } = open({ token: "t" });
  await until(() => sockets.length === 1);
  sockets[0].break();
  await until(() => lines.length === 2);
  assert.deepEqual(states, [{ up: true, by: "stream" }]);
  assert.equal(requests[0].headers.authorization, "Bearer t");
  assert.equal((await room.command("input.submit", { text: "Hi" }, "00000001")).disposition, "queued");
  room.close();
});

test("who is refused for good is told why, and asks no more", async () => {
  const { sockets, requests, open } = server(() => Response.json({ error: "this room needs a token" }, { status: 401 }));
  const { states } = open();
  await until(() => sockets.length === 1);
  sockets[0].break();
  await until(() => states.length === 1);
  assert.deepEqual(states, [{ up: false, why: "this room needs a token", ended: true }]);
  await soon();
  assert.equal(requests.length, 1);
});

test("a line that is silent for too long is dead", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { sockets, open } = server();
  const { room } = open();
  await until(() => sockets.length === 1);
  sockets[0].say(ready(0));
  t.mock.timers.tick(29_000);
  sockets[0].say({ type: "stream.alive", data: {} });
  t.mock.timers.tick(29_000);
  await soon();
  assert.equal(sockets.length, 1);
  t.mock.timers.tick(1_000);
  await until(() => { t.mock.timers.tick(100); return sockets.length === 2; });
  room.close();
});
