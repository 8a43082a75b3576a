/**
 * A model server and a tool in one: the model calls the tool `shop.lookup` once for each message, and answers with the
 * tool's result in its context. Both respond at once with the same bytes, so that only the calling server is measured.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { ANSWER, MODEL, USAGE } from './workload.ts';

const ORDER = JSON.stringify({ order_id: 'A-1042', state: 'shipped', note: 'word '.repeat(80) });
const CALL = {
  id: 'call_bench',
  type: 'function',
  function: { name: 'shop_lookup', arguments: '{"order_id":"A-1042"}' },
};

const completion = (message: object, reason: string) =>
  JSON.stringify({
    id: 'chatcmpl-bench',
    created: 0,
    model: MODEL,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, ...message },
        finish_reason: reason,
      },
    ],
    usage: USAGE,
  });
const ASKS = completion({ tool_calls: [CALL] }, 'tool_calls');
const ANSWERS = completion({ content: ANSWER }, 'stop');

const server = createServer((request, response) => {
  let text = '';
  request.setEncoding('latin1').on('data', (piece: string) => {
    text += piece;
  });
  request.once('end', () => {
    const isModel = request.method === 'POST';
    // The last message is the tool's.
    const isAnswered = text.lastIndexOf('"role":"tool"') > text.lastIndexOf('"role":"user"');
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(isModel ? (isAnswered ? ANSWERS : ASKS) : ORDER);
  });
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
if (address === null || typeof address === 'string') throw new Error('The upstream has no port.');
console.log(`listening on http://127.0.0.1:${address.port}`);
