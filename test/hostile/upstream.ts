/**
 * The hostile tenants' servers, in one process: a model server, tools and an MCP server, with the worst known behaviours.
 * The user's last message selects the model's behaviour.
 */
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';

/** The behaviours of the hostile model. */
export const MODEL_BEHAVIOURS = [
  'hang',
  'very many tool calls',
  'one call with large arguments',
  'arguments with many invalid elements',
  'tiny deltas',
  'an endless delta',
  'very long names',
  'deeply nested arguments',
  'bytes that are not events',
  'a lost connection',
  'absurd usage',
  'endless calls',
] as const;
type ModelBehaviour = (typeof MODEL_BEHAVIOURS)[number];

/** The behaviours of the hostile tool. */
export const TOOL_BEHAVIOURS = [
  'endless',
  'compressed',
  'redirects',
  'drip',
  'headers',
  'deep',
  'hang',
] as const;
type ToolBehaviour = (typeof TOOL_BEHAVIOURS)[number];

const MEBIBYTE = 1024 * 1024;
/** The maximum duration of a hostile response. */
const ANSWER_LIMIT_MS = 40_000;
const zeros = gzipSync(Buffer.alloc(200 * MEBIBYTE));

const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;
const toolCall = (index: number, name: string, input: string) =>
  chunk({
    tool_calls: [
      { index, id: `call_${index}`, type: 'function', function: { name, arguments: input } },
    ],
  });
const done = 'data: [DONE]\n\n';

/** Writes pieces as fast as the reader accepts them, until it disconnects. */
async function pour(response: ServerResponse, count: number, piece: (index: number) => string) {
  for (let index = 0; index < count && !response.destroyed; index += 100) {
    let batch = '';
    for (let one = index; one < Math.min(index + 100, count); one += 1) batch += piece(one);
    if (response.write(batch)) continue;
    await new Promise<void>((resolve) => {
      response.once('drain', resolve);
      response.once('close', resolve);
    });
  }
}

type Body = {
  messages: { role: string; content: string }[];
  tools?: { function: { name: string } }[];
};

async function answerAsModel(response: ServerResponse, { messages, tools = [] }: Body) {
  const behaviourName = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  const answersTool = messages.at(-1)?.role === 'tool';
  const name = tools[0]?.function.name ?? 'fetch';
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (behaviourName.startsWith('call ') && !answersTool) {
    response.write(
      toolCall(0, name, JSON.stringify({ how: behaviourName.slice('call '.length), list: [] })),
    );
    response.end(done);
    return;
  }
  const act: Record<ModelBehaviour, () => Promise<unknown> | unknown> = {
    hang: () => new Promise((resolve) => response.once('close', resolve)),
    'very many tool calls': () => pour(response, 600_000, (index) => toolCall(index, '', '')),
    'one call with large arguments': () =>
      pour(response, 500, () => toolCall(0, name, 'x'.repeat(100_000))),
    'arguments with many invalid elements': () =>
      response.write(toolCall(0, name, JSON.stringify({ how: 1, list: Array(200_000).fill({}) }))),
    'tiny deltas': () => pour(response, 2_000_000, () => chunk({ content: 'a' })),
    'an endless delta': () => {
      response.write('data: {"choices":[{"index":0,"delta":{"content":"');
      return pour(response, 5_000, () => 'a'.repeat(10_000));
    },
    'very long names': () => response.write(toolCall(0, '<b>'.repeat(300_000), '{}')),
    'deeply nested arguments': () =>
      response.write(toolCall(0, name, `{"list":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)),
    'bytes that are not events': () => pour(response, 2_000, () => '\u0000\u2028\n'.repeat(1_000)),
    'a lost connection': () => response.write(chunk({ content: 'cut' }), () => response.destroy()),
    'absurd usage': () =>
      response.write(
        chunk(
          { content: 'x' },
          { usage: { prompt_tokens: 1e308, completion_tokens: -5, total_tokens: 'many' } },
        ),
      ),
    'endless calls': () =>
      pour(response, 128, (index) => toolCall(index, name, '{"how":"endless","list":[]}')),
  };
  const behave = Object.entries(act).find(([behaviour]) => behaviour === behaviourName)?.[1];
  // After a tool result, the model stops, except for the one behaviour that keeps calling.
  if (behave && (!answersTool || behaviourName === 'endless calls')) await behave();
  else response.write(chunk({ content: 'Hello.' }));
  response.end(done);
}

async function answerAsTool(response: ServerResponse, how: string) {
  const act: Record<ToolBehaviour, () => unknown> = {
    endless: () => pour(response, 1_000_000, () => 'endless '.repeat(100)),
    compressed: () => response.writeHead(200, { 'content-encoding': 'gzip' }).write(zeros),
    redirects: () => response.writeHead(302, { location: '?how=redirects' }),
    drip: async () => {
      for (let count = 0; count < 300 && !response.destroyed; count += 1) {
        response.write('.');
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
    headers: () => response.writeHead(200, { 'x-long': 'h'.repeat(200_000) }),
    deep: () => response.write(`${'['.repeat(30_000)}${']'.repeat(30_000)}`),
    hang: () => new Promise((resolve) => response.once('close', resolve)),
  };
  await Object.entries(act).find(([key]) => key === how)?.[1]();
  response.end();
}

let listings = 0;

/** Implements the part of the protocol that a client needs to list the tools. */
async function answerAsMcp(response: ServerResponse, rpc: { id?: number; method?: string }) {
  if (rpc.id === undefined) return void response.writeHead(202).end();
  const reply = (result: object) => {
    response.setHeader('mcp-session-id', String(listings));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: rpc.id, result }));
  };
  if (rpc.method === 'initialize') {
    const capabilities = { tools: { listChanged: true } };
    return reply({
      protocolVersion: '2025-06-18',
      capabilities,
      serverInfo: { name: 'h', version: '1' },
    });
  }
  if (rpc.method !== 'tools/list')
    return reply({ content: [{ type: 'text', text: 'x'.repeat(2 * MEBIBYTE) }] });
  listings += 1;
  const inputSchema = { type: 'object', properties: {} };
  switch (listings % 4) {
    case 0: {
      const anyOf = Array.from({ length: 300 }, (_, index) => ({ const: index }));
      const list = { type: 'array', items: { anyOf } };
      return reply({
        tools: [{ name: 'fetch', inputSchema: { type: 'object', properties: { list } } }],
      });
    }
    case 1:
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(
        `{"jsonrpc":"2.0","id":${rpc.id},"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}`,
      );
      await pour(
        response,
        700_000,
        (index) => `,{"name":"tool_${index}","inputSchema":{"type":"object"}}`,
      );
      response.end(']}}');
      return;
    case 2:
      return reply({ tools: [{ name: 'a', inputSchema }], nextCursor: String(listings) });
    default:
      await new Promise((resolve) => response.once('close', resolve));
  }
}

/** Starts the server on a free loopback port, and prints its URL. */
function listen() {
  const server = createServer(async (request, response) => {
    const limit = setTimeout(() => response.destroy(), ANSWER_LIMIT_MS);
    response.once('close', () => clearTimeout(limit)).on('error', () => {});
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    try {
      const body = request.method === 'POST' ? await text(request) : '';
      if (pathname === '/tool') await answerAsTool(response, searchParams.get('how') ?? '');
      else if (pathname === '/mcp') await answerAsMcp(response, body ? JSON.parse(body) : {});
      else await answerAsModel(response, JSON.parse(body));
    } catch {
      response.destroy();
    }
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (typeof address === 'object') console.log(`listening on http://127.0.0.1:${address?.port}`);
  });
}

if (import.meta.main) listen();
