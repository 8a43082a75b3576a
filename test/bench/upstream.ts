/**
 * The model server: OpenAI's chat completions, streamed. It responds to every request at once with the same bytes, so that
 * only the calling servers are measured.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { DELTAS, MODEL } from './workload.ts';

const chunk = (fields: object) => {
  const common = {
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 0,
    model: MODEL,
  };
  return `data: ${JSON.stringify({ ...common, ...fields })}\n\n`;
};

const choice = (delta: object, reason: string | null) =>
  chunk({ choices: [{ index: 0, delta, finish_reason: reason }], usage: null });

const body = Buffer.from(
  [
    ...DELTAS.map((content) => choice({ content }, null)),
    choice({}, 'stop'),
    chunk({ choices: [], usage: { prompt_tokens: 400, completion_tokens: 20, total_tokens: 420 } }),
    'data: [DONE]\n\n',
  ].join(''),
);
const headers = { 'Content-Type': 'text/event-stream', 'Content-Length': body.length };

const server = createServer((request, response) => {
  request.resume().once('end', () => response.writeHead(200, headers).end(body));
});
// Connections stay open while another server is measured.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
if (address === null || typeof address === 'string') throw new Error('The upstream has no port.');
console.log(`listening on http://127.0.0.1:${address.port}`);
