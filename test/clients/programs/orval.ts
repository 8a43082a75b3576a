import assert from 'node:assert/strict';
import { createParser } from 'eventsource-parser';
import {
  chat,
  deploy,
  listRuns,
  type ReplyFrame,
  readRun,
  streamChat,
} from '../generated/orval.js';
import { assertReply, bot, headers, MESSAGE, SOURCE } from './target.js';

const deployment = await deploy(bot, { agentlang: SOURCE }, {}, { headers });
assert.ok(deployment.status === 200);
assert.equal(deployment.data.status, 'deployed');

const reply = await chat(
  bot,
  { message: MESSAGE },
  { headers: { ...headers, 'X-Session-ID': 'user-1' } },
);
assert.ok(reply.status === 200);
assertReply(reply.data.response);

// The client waits for the whole stream and returns its text.
const stream = await streamChat(bot, { message: MESSAGE }, {}, { headers });
assert.ok(stream.status === 200);
const frames: ReplyFrame[] = [];
createParser({ onEvent: ({ data }) => frames.push(JSON.parse(data)) }).feed(stream.data);
assertReply(frames.map((frame) => ('delta' in frame ? frame.delta : '')).join(''));

const runs: string[] = [];
let pages = 0;
let cursor: string | undefined;
do {
  const page = await listRuns(bot, { limit: 1, cursor }, { headers });
  assert.ok(page.status === 200);
  runs.push(...page.data.runs.map(({ run_id }) => run_id));
  cursor = page.data.next_cursor ?? undefined;
  pages += 1;
} while (cursor !== undefined);
assert.equal(runs.length, 2);
assert.ok(runs.includes(reply.data.run_id));

const missing = await readRun(bot, 'run_none', { headers });
assert.ok(missing.status === 404);
assert.equal(missing.data.error.code, 'run_not_found');

console.log(
  `deploy, chat, stream of ${frames.length} frames, ${runs.length} runs in ${pages} pages, an error`,
);
