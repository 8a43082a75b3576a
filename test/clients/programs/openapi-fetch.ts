import assert from 'node:assert/strict';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import createClient from 'openapi-fetch';
import type { components, paths } from '../generated/openapi-typescript.js';
import { assertReply, bot, headers, MESSAGE, present, SOURCE, url } from './target.js';

type Frame = components['schemas']['ReplyFrame'];

const api = createClient<paths>({ baseUrl: `${url}/v1`, headers });
const path = { id: bot };

const { data: deployment } = await api.POST('/bots/{id}/deploy', {
  params: { path },
  body: { agentlang: SOURCE },
});
assert.equal(present(deployment, 'deployment').status, 'deployed');

const { data: chat } = await api.POST('/bots/{id}/chat', {
  params: { path, header: { 'X-Session-ID': 'user-1' } },
  body: { message: MESSAGE },
});
assertReply(present(chat, 'reply').response);

const { data: stream } = await api.POST('/bots/{id}/chat/stream', {
  params: { path },
  body: { message: MESSAGE },
  parseAs: 'stream',
});
const frames: Frame[] = [];
const events = present(stream, 'stream')
  .pipeThrough(new TextDecoderStream())
  .pipeThrough(new EventSourceParserStream());
for await (const { data } of events) frames.push(JSON.parse(data));
assertReply(frames.map((frame) => ('delta' in frame ? frame.delta : '')).join(''));

const runs: string[] = [];
let pages = 0;
let cursor: string | undefined;
do {
  const query = { limit: 1, cursor };
  const { data } = await api.GET('/bots/{id}/runs', { params: { path, query } });
  const page = present(data, 'page');
  runs.push(...page.runs.map(({ run_id }) => run_id));
  cursor = page.next_cursor ?? undefined;
  pages += 1;
} while (cursor !== undefined);
assert.equal(runs.length, 2);
assert.ok(runs.includes(present(chat, 'reply').run_id));

const { error } = await api.GET('/bots/{id}/runs/{run_id}', {
  params: { path: { ...path, run_id: 'run_none' } },
});
assert.equal(present(error, 'error').error.code, 'run_not_found');

console.log(
  `deploy, chat, stream of ${frames.length} frames, ${runs.length} runs in ${pages} pages, an error`,
);
