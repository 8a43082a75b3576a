import assert from 'node:assert/strict';
import { assertFailure, assertText, deployWith } from './model-server.js';

const { MOCK_LLM_URL: origin = '' } = process.env;

await deployWith(origin);
const { tokensEstimated } = await assertText();
assert.ok(tokensEstimated);

// It reports the error in an event, after status 200.
await assertFailure('The credit is used up.');

console.log('a model server with text, a stream, an error in the stream, without usage');
