// A caller made of OpenAI's agents client. It is told what to do by lines of JSON, and tells what happens by lines of JSON.
import { createInterface } from 'node:readline';
import { readFile } from 'node:fs/promises';
import { RealtimeAgent, RealtimeSession, OpenAIRealtimeWebSocket, tool } from '@openai/agents-realtime';
import { z } from 'zod';

const BYTES_A_PIECE = 2400; // 50 ms of 24 kHz PCM

const tell = (what, data = {}) => process.stdout.write(`${JSON.stringify({ what, at: performance.now(), ...data })}\n`);

const weather = tool({
  name: 'weather',
  description: 'Tells the weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    tell('tool', { city });
    return `It rains in ${city}.`;
  },
});

const agent = new RealtimeAgent({ name: 'Ada', instructions: 'Be brief.', tools: [weather] });
const session = new RealtimeSession(agent, {
  transport: new OpenAIRealtimeWebSocket({ url: process.argv[2], useInsecureApiKey: true }),
  tracingDisabled: true,
});

session.on('audio', (event) => tell('audio', { data: Buffer.from(event.data).toString('base64') }));
session.on('audio_interrupted', () => tell('interrupted'));
session.on('agent_end', (_context, _agent, text) => tell('said', { text }));
session.on('error', (error) => tell('error', { error: JSON.stringify(error) }));
session.on('history_updated', (history) => tell('history', { history }));
session.on('transport_event', (event) => {
  if (!event.type.endsWith('.delta')) tell('event', { event });
});

// The person is silent between utterances, as a microphone is that stays open.
let speech = Buffer.alloc(0);
const microphone = () => setInterval(() => {
  const piece = Buffer.alloc(BYTES_A_PIECE);
  speech.copy(piece, 0, 0, BYTES_A_PIECE);
  speech = speech.subarray(BYTES_A_PIECE);
  session.sendAudio(piece.buffer.slice(piece.byteOffset, piece.byteOffset + piece.byteLength));
}, 50);

const doing = {
  say: async ({ file }) => { speech = await readFile(file); tell('saying'); },
  write: async ({ text }) => session.sendMessage(text),
  close: async () => { session.close(); process.exit(0); },
};

await session.connect({ apiKey: 'none' });
tell('connected');
microphone();
for await (const line of createInterface({ input: process.stdin })) {
  const wish = JSON.parse(line);
  await doing[wish.do](wish);
}
process.exit(0);
