/**
 * A model server that streams like a real one: `node paced-upstream.ts DELTAS CHARACTERS PAUSE_MS` answers each request with
 * this number of deltas of this length, with a pause before each. Without pauses, it sends all of them at once.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { MODEL } from './workload.ts';

const [deltas = 0, characters = 0, pauseMs = 0] = process.argv.slice(2).map(Number);

const chunk = (fields: object) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-bench', created: 0, model: MODEL, object: 'chat.completion.chunk', ...fields })}\n\n`;
const choice = (delta: object, reason: string | null) =>
  chunk({ choices: [{ index: 0, delta, finish_reason: reason }] });

const DELTA = choice(
  { content: 'word '.repeat(Math.ceil(characters / 5)).slice(0, characters) },
  null,
);
const USAGE = { prompt_tokens: 400, completion_tokens: deltas, total_tokens: 400 + deltas };
const END = `${choice({}, 'stop')}${chunk({ choices: [], usage: USAGE })}data: [DONE]\n\n`;

async function answer(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (let sent = 0; sent < deltas; sent += 1) {
    if (pauseMs > 0) await setTimeout(pauseMs);
    if (response.destroyed) return;
    response.write(DELTA);
  }
  response.end(END);
}

const server = createServer((request, response) => {
  request.resume().once('end', () => void answer(response));
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
if (address === null || typeof address === 'string') throw new Error('The upstream has no port.');
console.log(`listening on http://127.0.0.1:${address.port}`);
