// What a host's own program may write, and what it may not: checked, never run.

import { connect } from "./client.js";

const room = connect({ room: "lobby", token: "t", after: 0 });
const off = room.on("generation.finished", (line) => line.generation_id);
off();
room.command("input.submit", { text: "Hello" }).then((ack) => ack.error?.message.toUpperCase());
room.close();

// @ts-expect-error a room must be named
connect({ token: "t" });
// @ts-expect-error numbers are numbers
connect({ room: "lobby", after: "0" });
// @ts-expect-error commands carry data
room.command("input.submit");
