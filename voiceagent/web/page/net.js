// Requests to the server, and a room's events as they come.

export class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

export class Server {
  constructor(room, key, token) {
    this.base = `v1/rooms/${encodeURIComponent(room)}/`;
    this.headers = { "participant-key": key, ...(token ? { authorization: `Bearer ${token}` } : {}) };
  }

  async send(path, body, method = "POST", keepalive = false) {
    const answer = await fetch(this.base + path, {
      method, keepalive,
      headers: body === undefined ? this.headers : { ...this.headers, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!answer.ok) throw new Refused(answer.status, await reason(answer));
    return answer.status === 204 ? null : answer.json();
  }

  // Calls `take` with every event, from the first one the server still has; comes back by itself until `stop` is aborted.
  async follow(take, connection, stop) {
    let last = 0, epoch = "";
    for (let failures = 0; !stop.aborted; failures += 1) {
      try {
        const answer = await fetch(`${this.base}events${epoch ? `?epoch=${epoch}` : ""}`, { headers: { ...this.headers, "last-event-id": String(last) }, signal: stop, cache: "no-store" });
        if (!answer.ok) throw new Refused(answer.status, await reason(answer));
        connection(true);
        failures = 0;
        for await (const event of events(answer.body)) {
          if (event.type === "stream.ready") {
            event.anew = epoch !== event.data.epoch;
            if (event.anew) { epoch = event.data.epoch; last = 0; }
          }
          if (event.seq !== undefined && event.seq <= last) continue;
          if (event.seq !== undefined) last = event.seq;
          take(event);
        }
      } catch (error) {
        if (stop.aborted) return;
        if (error instanceof Refused && error.status < 500 && error.status !== 429) { connection(false, error.message); return; }
      }
      if (stop.aborted) return;
      if (failures > 0) connection(false);
      await pause(Math.min(3000, 500 * 2 ** failures));
    }
  }
}

export async function status() {
  const answer = await fetch("v1/status", { cache: "no-store" });
  if (!answer.ok) throw new Refused(answer.status, await reason(answer));
  return answer.json();
}

async function reason(answer) {
  try { return (await answer.json()).error || answer.statusText; } catch { return answer.statusText || `error ${answer.status}`; }
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const data = block.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()).join("\n");
      if (data) yield JSON.parse(data);
    }
  }
}
