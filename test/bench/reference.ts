/**
 * The reference that Parley is compared with: one bare Fastify route, `POST /chat`, that calls the model with the `openai`
 * client and responds in Parley's form. With a database it also stores the conversation. It validates nothing.
 *
 * Usage: node reference.ts MODEL_BASE_URL [POSTGRESQL_URL]
 */
import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import OpenAI from 'openai';
import { createReferenceStore } from './reference-store.ts';
import { MODEL, PROMPT } from './workload.ts';

const [, , baseURL, databaseUrl] = process.argv;
if (!baseURL) throw new Error('Pass the base URL of the model server.');
const client = new OpenAI({ apiKey: 'none', baseURL });
const store = databaseUrl ? await createReferenceStore(databaseUrl) : undefined;
const app = Fastify();

const frame = (value: object) => `data: ${JSON.stringify(value)}\n\n`;

app.post<{ Body: { message: string; stream?: boolean } }>('/chat', async (request, reply) => {
  const startedAt = performance.now();
  const id = randomUUID();
  const session = String(request.headers['x-session-id']);
  const { message, stream } = request.body;
  const history = (await store?.load(session)) ?? [];
  const chunks = await client.chat.completions.create({
    model: MODEL,
    messages: [{ role: 'system', content: PROMPT }, ...history, { role: 'user', content: message }],
    stream: true,
    stream_options: { include_usage: true },
  });
  if (stream) {
    reply.hijack();
    reply.raw.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  }
  let response = '';
  let tokens = 0;
  for await (const { choices, usage } of chunks) {
    const delta = choices[0]?.delta.content;
    if (delta) {
      response += delta;
      if (stream) reply.raw.write(frame({ delta }));
    }
    tokens = usage?.total_tokens ?? tokens;
  }
  const latencyMs = Math.round(performance.now() - startedAt);
  await store?.save({ id, session, message, response, tokens, latencyMs });
  if (stream) {
    reply.raw.end(frame({ event: 'done', run_id: id, latency_ms: latencyMs }));
    return reply;
  }
  return {
    response,
    session_id: session,
    run_id: id,
    latency_ms: latencyMs,
    tokens_used: tokens,
    tools_called: [],
  };
});

console.log(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}`);
