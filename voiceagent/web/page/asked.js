// The inbox followed from a browser: its stream, which comes back by itself, and answers, which are given once.

import { Refused, lines, newId, reason } from "./client.js";

const SILENCE_MS = 30_000;
const LONGEST_PAUSE_MS = 5_000;
const TRIES = 4;

export class Asked {
  // `take` is given every object of the stream, `up` whether it comes, and if it never will why.
  constructor({ key, token, url, fetch = globalThis.fetch.bind(globalThis) }, take, up) {
    this.base = new URL("v1/", url ?? location.href);
    this.headers = { ...(key ? { "participant-key": key } : {}), ...(token ? { authorization: `Bearer ${token}` } : {}) };
    this.take = take; this.up = up; this.fetch = fetch;
    this.stop = new AbortController();
    this.follow();
  }

  close() { this.stop.abort(); }

  async follow() {
    for (let failures = 0; !this.stop.signal.aborted; failures += 1) {
      try {
        await this.stream(() => { failures = 0; });
      } catch (error) {
        if (error instanceof Refused && !error.passing) { this.up(false, error.message); return; }
      }
      if (this.stop.signal.aborted) return;
      this.up(false);
      await pause(Math.min(LONGEST_PAUSE_MS, 250 * 2 ** failures));
    }
  }

  async stream(came) {
    const end = new AbortController(), abort = () => end.abort();
    let quiet = setTimeout(abort, SILENCE_MS);
    this.stop.signal.addEventListener("abort", abort, { once: true });
    try {
      const answer = await this.fetch(new URL("inbox/events", this.base), { headers: this.headers, signal: end.signal, cache: "no-store" });
      if (!answer.ok || !answer.body) throw new Refused(answer.status, await reason(answer));
      for await (const line of lines(answer.body)) {
        clearTimeout(quiet);
        quiet = setTimeout(abort, SILENCE_MS);
        if (line.type === "inbox.snapshot") { came(); this.up(true); }
        this.take(line);
      }
    } finally {
      clearTimeout(quiet);
      this.stop.signal.removeEventListener("abort", abort);
    }
  }

  // Answers or dismisses; where nothing comes back it is sent again under the same id. Raises when the server stays away.
  async command(type, data) {
    const body = JSON.stringify({ type, id: newId(), data });
    for (let tries = 1; ; tries += 1) {
      try {
        const answer = await this.fetch(new URL("inbox/commands", this.base), { method: "POST", headers: { ...this.headers, "content-type": "application/json" }, body });
        if (answer.ok) return await answer.json();
        throw new Refused(answer.status, await reason(answer));
      } catch (error) {
        if (tries >= TRIES || (error instanceof Refused && !error.passing)) throw error;
      }
      await pause(250 * 2 ** tries);
    }
  }

  overview() { return this.ask("GET", "overview"); }

  // One request, once. Raises what stands in its way.
  async ask(method, path, what) {
    const headers = what ? { ...this.headers, "content-type": "application/json" } : this.headers;
    const answer = await this.fetch(new URL(path, this.base), { method, headers, cache: "no-store", ...(what ? { body: JSON.stringify(what) } : {}) });
    if (!answer.ok) throw new Refused(answer.status, await reason(answer));
    return answer.status === 204 ? null : answer.json();
  }
}

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
