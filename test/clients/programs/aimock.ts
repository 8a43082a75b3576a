import assert from 'node:assert/strict';
import { assertFailure, assertText, chat, deployWith } from './model-server.js';

const { AIMOCK_URL: origin = '' } = process.env;

await deployWith(origin);
const { tokensEstimated, completionTokens } = await assertText();
assert.ok(!tokensEstimated && completionTokens > 0);

const { body } = await chat('What time is it?');
assert.deepEqual([body.response, body.tools_called], ['It is late.', ['time.now']]);

await assertFailure('HTTP 402: The credit is used up.');

const broken = await chat('Break off');
assert.equal(broken.body.error.code, 'model_error');
assert.match(broken.run.response ?? '', /^This sentence/);

console.log('a model server with text, a stream, a tool call, usage, an error, a lost connection');
