/**
 * The reference that Parley is compared with: one bare Fastify route, `POST /chat`, that calls the model and responds in
 * Parley's form. It streams the model's answer only to a client that streams. With a database it also stores the
 * conversation. It validates nothing.
 *
 * Usage: node reference.ts openai|undici MODEL_BASE_URL [POSTGRESQL_URL]
 */
import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import { CLIENTS, createReferenceModel } from './reference-model.ts';
import { createReferenceStore, type StoredMessage } from './reference-store.ts';

const [, , name, baseUrl, databaseUrl] = process.argv;
const client = CLIENTS.find((each) => each === name);
if (!client || !baseUrl) throw new Error('Pass a client and the base URL of the model server.');
const model = createReferenceModel(client, baseUrl);
const store = databaseUrl ? await createReferenceStore(databaseUrl) : undefined;
const app = Fastify();

const frame = (value: object) => `data: ${JSON.stringify(value)}\n\n`;

app.post<{ Body: { message: string; stream?: boolean } }>('/chat', async (request, reply) => {
  const startedAt = performance.now();
  const id = randomUUID();
  const session = String(request.headers['x-session-id']);
  const { message, stream } = request.body;
  const history = (await store?.load(session)) ?? [];
  const messages: StoredMessage[] = [...history, { role: 'user', content: message }];
  if (stream) {
    reply.hijack();
    reply.raw.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  }
  const { text: response, tokens } = stream
    ? await model.streamed(messages, (delta) => reply.raw.write(frame({ delta })))
    : await model.whole(messages);
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
