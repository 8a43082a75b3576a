import assert from 'node:assert/strict';
import { client } from '../generated/hey-api/client.gen.js';
import {
  chat,
  deploy,
  listRuns,
  type ReplyFrame,
  readRun,
  streamChat,
} from '../generated/hey-api/index.js';
import { apiKey, assertReply, bot, MESSAGE, present, SOURCE, url } from './target.js';

assert.equal(client.getConfig().baseUrl, `${url}/v1`);
client.setConfig({ auth: apiKey });
const path = { id: bot };

const { data: deployment } = await deploy({
  path,
  body: { agentlang: SOURCE },
  throwOnError: true,
});
assert.equal(deployment.status, 'deployed');

const { data: reply } = await chat({
  path,
  headers: { 'X-Session-ID': 'user-1' },
  body: { message: MESSAGE },
  throwOnError: true,
});
assertReply(reply.response);

const { stream } = await streamChat({ path, body: { message: MESSAGE } });
const frames: ReplyFrame[] = [];
// The client parses the JSON of each event, but OpenAPI 3.1 describes the stream as a string.
for await (const frame of stream as AsyncIterable<unknown>) frames.push(frame as ReplyFrame);
assertReply(frames.map((frame) => ('delta' in frame ? frame.delta : '')).join(''));

const runs: string[] = [];
let pages = 0;
let cursor: string | undefined;
do {
  const { data } = await listRuns({ path, query: { limit: 1, cursor }, throwOnError: true });
  runs.push(...data.runs.map(({ run_id }) => run_id));
  cursor = data.next_cursor ?? undefined;
  pages += 1;
} while (cursor !== undefined);
assert.equal(runs.length, 2);
assert.ok(runs.includes(reply.run_id));

const { error } = await readRun({ path: { ...path, run_id: 'run_none' } });
assert.equal(present(error, 'error').error.code, 'run_not_found');

console.log(
  `deploy, chat, stream of ${frames.length} frames, ${runs.length} runs in ${pages} pages, an error`,
);
