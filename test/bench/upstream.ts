/**
 * The model server: OpenAI's chat completions, whole or streamed. It responds to every request at once with the same
 * bytes, so that only the calling servers are measured.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { ANSWER, DELTAS, MODEL, USAGE } from './workload.ts';

const common = { id: 'chatcmpl-bench', created: 0, model: MODEL };

const chunk = (fields: object) =>
  `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', ...fields })}\n\n`;

const choice = (delta: object, reason: string | null) =>
  chunk({ choices: [{ index: 0, delta, finish_reason: reason }], usage: null });

const answer = (type: string, text: string) => {
  const body = Buffer.from(text);
  return { headers: { 'Content-Type': type, 'Content-Length': body.length }, body };
};

const streamed = answer(
  'text/event-stream',
  [
    ...DELTAS.map((content) => choice({ content }, null)),
    choice({}, 'stop'),
    chunk({ choices: [], usage: USAGE }),
    'data: [DONE]\n\n',
  ].join(''),
);

const whole = answer(
  'application/json',
  JSON.stringify({
    ...common,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: ANSWER }, finish_reason: 'stop' }],
    usage: USAGE,
  }),
);

const server = createServer((request, response) => {
  let text = '';
  request.setEncoding('latin1').on('data', (piece: string) => {
    text += piece;
  });
  request.once('end', () => {
    const { headers, body } = text.includes('"stream":true') ? streamed : whole;
    response.writeHead(200, headers).end(body);
  });
});
// Connections stay open while another server is measured.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
if (address === null || typeof address === 'string') throw new Error('The upstream has no port.');
console.log(`listening on http://127.0.0.1:${address.port}`);
