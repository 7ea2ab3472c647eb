// A room followed from a browser, or from any program with fetch: its lines in order, and commands. No dependency.
//
//   const room = connect({ room: "lobby", token, after: 0 });
//   room.on("speech.*", (line) => console.log(line.type, line.data));
//   const ack = await room.command("input.submit", { text: "Hello" });
//
// A WebSocket first, server-sent events and POST where that does not open. It comes back by itself behind the last number that it
// had, gives each numbered line once, and sends a command that was not acknowledged again under the same id.

/**
 * @typedef {object} Line One object of the feed. Durable lines have `seq`, droppable ones and `stream.*` do not.
 * @property {string} type
 * @property {Record<string, any>} data
 * @property {number} [seq]
 * @property {number} [after]
 * @property {string} [time]
 * @property {string} [room_id]
 * @property {string} [channel_id]
 * @property {string} [session_id]
 * @property {string} [generation_id]
 * @property {string} [responds_to]
 * @property {boolean} [anew] Of `stream.ready`: the room's numbers began anew; what was known of it is gone.
 */
/**
 * @typedef {object} Ack A command's one answer.
 * @property {string | null} id
 * @property {boolean} accepted
 * @property {boolean} [duplicate]
 * @property {string} disposition
 * @property {string} [input_id]
 * @property {string} [generation_id]
 * @property {Record<string, any>} [question] Of a question: how it stands.
 * @property {{code: string, message: string}} [error]
 */
/**
 * @typedef {object} Connection `up`: lines come. `why`: why they do not. `ended`: they never will again.
 * @property {boolean} up
 * @property {string} [why]
 * @property {boolean} [ended]
 * @property {"socket" | "stream"} [by]
 */
/**
 * @typedef {object} Options
 * @property {string} room
 * @property {string} [token] The room's token, where the server asks for one.
 * @property {string} [key] The participant key, for who acts as a person.
 * @property {number | null} [after] Lines behind this number first: 0 for all that are kept; null: from now on.
 * @property {Record<string, string>} [wishes] `types`, `generation`, `purpose`, `audience`, as the feed's address takes them.
 * @property {string} [url] Where the server is; by default where the page came from.
 * @property {typeof globalThis.fetch} [fetch]
 * @property {any} [WebSocket] Null: server-sent events only.
 */

const SILENCE_MS = 30_000;
const OPENING_MS = 5_000;
const UNANSWERED_MS = 15_000;
const LONGEST_PAUSE_MS = 3_000;

/** @param {Options} options */
export function connect(options) { return new Room(options); }

/** A request that the server refused, and why in words. */
export class Refused extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) { super(message); this.status = status; }

  /** Whether asking again can help. */
  get passing() { return this.status >= 500 || this.status === 429; }
}

/** An id that nobody else makes. */
export function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Room {
  /** @param {Options} options */
  constructor({ room, token, key, after = null, wishes = {}, url, fetch = globalThis.fetch?.bind(globalThis), WebSocket = globalThis.WebSocket }) {
    this.address = new URL(`v1/rooms/${encodeURIComponent(room)}/`, url ?? globalThis.location?.href);
    /** @type {Record<string, string>} */
    this.headers = { ...(key ? { "participant-key": key } : {}), ...(token ? { authorization: `Bearer ${token}` } : {}) };
    this.protocols = ["voiceagent.v1", ...(token ? [`bearer.${token}`] : []), ...(key ? [`key.${key}`] : [])];
    this.wishes = wishes; this.fetch = fetch; this.WebSocket = WebSocket;
    /** The last number that came; what one resumes behind. */
    this.last = after;
    this.epoch = ""; this.host = false; this.socketChances = 2;
    /** @type {string | undefined} */
    this.ended = undefined;
    /** @type {"socket" | "stream" | undefined} */
    this.by = undefined;
    /** @type {Map<string, Set<(line: any) => void>>} */
    this.listeners = new Map();
    /** @type {Map<string, {text: string, done: (ack: Ack) => void}>} */
    this.waiting = new Map();
    /** @type {any} */
    this.socket = null;
    this.stop = new AbortController();
    queueMicrotask(() => this.live());
  }

  /**
   * Calls `take` with lines of a type, of a family ("speech.*") or all ("*"); "connection" tells how the line to the server is.
   * @param {string} type @param {(line: any) => void} take @returns {() => void} lets go of it
   */
  on(type, take) {
    const those = this.listeners.get(type) ?? new Set();
    this.listeners.set(type, those.add(take));
    return () => { those.delete(take); };
  }

  /**
   * Does something in the room; the same id with the same content is done once, however often it is sent. Fails when nobody has
   * acknowledged it in time: then try again with the same id.
   * @param {string} type @param {Record<string, unknown>} data @param {string} [id] @returns {Promise<Ack>}
   */
  async command(type, data, id = newId()) {
    const text = JSON.stringify({ type, id, data });
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => { this.waiting.delete(id); reject(new Error("The server does not answer.")); }, UNANSWERED_MS);
      this.waiting.set(id, { text, done: (ack) => { clearTimeout(late); this.waiting.delete(id); resolve(ack); } });
      this.send(id, text);
    });
  }

  /** Ends it for good. */
  close() { this.stop.abort(); this.socket?.close(); }

  // -- the line to the server ----------------------------------------------------------------------------------------------

  async live() {
    for (let failures = 0; !this.stop.signal.aborted; failures += 1) {
      let came = false;
      const take = (/** @type {Line} */ line) => { if (!came) { came = true; failures = 0; } this.take(line); };
      /** @type {string | undefined} */
      let why;
      try {
        if (!(this.WebSocket && this.socketChances > 0 && await this.overSocket(take)) && !this.stop.signal.aborted) await this.overStream(take);
      } catch (error) {
        if (error instanceof Refused) why = error.message;
        if (error instanceof Refused && !error.passing) this.stop.abort();
        else if (!(error instanceof Error)) throw error;
      }
      if (this.ended) why = this.ended;
      if (this.stop.signal.aborted) { if (why) this.tell("connection", { up: false, why, ended: true }); return; }
      if (!came) this.tell("connection", { up: false, why });
      await pause(came ? 100 : Math.min(LONGEST_PAUSE_MS, 250 * 2 ** failures));
    }
  }

  get query() {
    return new URLSearchParams({ ...this.wishes, ...(this.last === null ? {} : { after: String(this.last) }), ...(this.epoch ? { epoch: this.epoch } : {}) });
  }

  /** Over a WebSocket, until it ends; false when it did not open. @param {(line: Line) => void} take @returns {Promise<boolean>} */
  overSocket(take) {
    const address = new URL(`stream?${this.query}`, this.address);
    address.protocol = address.protocol.replace("http", "ws");
    return new Promise((ended) => {
      let opened = false;
      /** @type {any} */
      let socket;
      try { socket = new this.WebSocket(String(address), this.protocols); } catch { ended(false); return; }
      let quiet = setTimeout(() => finish(), OPENING_MS);
      const finish = () => {
        clearTimeout(quiet);
        socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
        if (this.socket === socket) this.socket = null;
        socket.close();
        ended(opened);
      };
      const alive = () => { clearTimeout(quiet); quiet = setTimeout(finish, SILENCE_MS); };
      socket.onmessage = (/** @type {{data: string}} */ { data }) => {
        alive();
        const line = JSON.parse(data);
        if (!opened) { opened = true; this.socketChances = 2; this.socket = socket; this.up("socket"); }
        if (line.type === "ack") this.waiting.get(line.data.id)?.done(line.data);
        else take(line);
      };
      socket.onclose = socket.onerror = finish;
      this.stop.signal.addEventListener("abort", finish, { once: true });
    });
  }

  /** Over server-sent events, until they end. Raises Refused. @param {(line: Line) => void} take */
  async overStream(take) {
    const stop = new AbortController();
    const end = () => stop.abort();
    let quiet = setTimeout(end, SILENCE_MS);
    this.stop.signal.addEventListener("abort", end, { once: true });
    try {
      const answer = await this.fetch(new URL(`events?${this.query}`, this.address), { headers: this.headers, signal: stop.signal, cache: "no-store" });
      if (!answer.ok || !answer.body) throw new Refused(answer.status, await reason(answer));
      this.socketChances -= 1;
      this.up("stream");
      for await (const line of lines(answer.body)) {
        clearTimeout(quiet);
        quiet = setTimeout(end, SILENCE_MS);
        take(line);
      }
    } finally {
      clearTimeout(quiet);
      this.stop.signal.removeEventListener("abort", end);
    }
  }

  /** @param {"socket" | "stream"} by */
  up(by) {
    this.by = by;
    this.tell("connection", { up: true, by });
    for (const [id, { text }] of this.waiting) this.send(id, text);
  }

  /** Sends a command by the way that is open; with none it is sent once one is. @param {string} id @param {string} text */
  async send(id, text) {
    if (this.socket) { this.socket.send(text); return; }
    if (this.by !== "stream" || this.stop.signal.aborted) return;
    try {
      const answer = await this.fetch(new URL("commands", this.address), { method: "POST", headers: { ...this.headers, "content-type": "application/json" }, body: text });
      if (answer.ok) this.waiting.get(id)?.done(await answer.json());
      else if (answer.status < 500) this.waiting.get(id)?.done({ id, accepted: false, disposition: "refused", error: { code: "refused", message: await reason(answer) } });
    } catch { /* the next connection sends it again */ }
  }

  // -- the lines -----------------------------------------------------------------------------------------------------------

  /** @param {Line} line */
  take(line) {
    const { type, data } = line;
    if (type === "stream.ready") {
      line.anew = this.last !== null && this.epoch !== "" && data.after < this.last;
      if (this.last === null || line.anew) this.last = data.after;
      this.epoch = data.epoch; this.host = data.host;
    }
    if (type === "stream.gap") this.last = data.to;
    if (type === "stream.snapshot") this.last = Math.max(this.last ?? 0, data.seq);
    if (type === "stream.closed" && data.reason === "token_expired") { this.ended = "The invitation has expired: ask for a new link."; this.stop.abort(); }
    if (line.seq !== undefined) {
      if (this.last !== null && line.seq <= this.last) return;
      this.last = line.seq;
    }
    this.tell(type, line);
  }

  /** @param {string} type @param {Line | Connection} told */
  tell(type, told) {
    const wanted = type === "connection" ? [type] : [type, `${type.split(".")[0]}.*`, "*"];
    for (const name of wanted) for (const take of [...(this.listeners.get(name) ?? [])]) {
      try { take(told); } catch (error) { queueMicrotask(() => { throw error; }); } // a listener's error is its own, not the line's
    }
  }
}

/** @param {number} ms */
const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

/** Why a request was refused, in the server's words. @param {Response} answer @returns {Promise<string>} */
export async function reason(answer) {
  try { return (await answer.json()).error || answer.statusText; } catch { return answer.statusText || `error ${answer.status}`; }
}

/** The objects of an event stream. @param {ReadableStream<Uint8Array>} body @returns {AsyncGenerator<Line>} */
export async function* lines(body) {
  const reader = body.getReader(), decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (text + decoder.decode(value, { stream: true })).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const data = block.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()).join("\n");
        if (data) yield JSON.parse(data);
      }
    }
  } finally { reader.cancel().catch(() => {}); }
}
