// Requests of the page that belong to no feed: its line, and who speaks here.

import { Refused, reason } from "./client.js";

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
}

export async function status() {
  const answer = await fetch("v1/status", { cache: "no-store" });
  if (!answer.ok) throw new Refused(answer.status, await reason(answer));
  return answer.json();
}
