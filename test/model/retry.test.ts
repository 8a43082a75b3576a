import { describe, expect, test } from 'vitest';
import { IncompleteAnswer, RefusedRequest, ReportedError } from '../../src/model/failure.ts';
import { readProblem } from '../../src/model/problem.ts';
import { isRetryable, retryDelay } from '../../src/model/retry.ts';

const NOW = Date.parse('2026-11-24T12:00:00Z');
const refused = (status: number, headers: Record<string, string> = {}) =>
  new RefusedRequest(status, new Headers(headers), readProblem(''));

describe('a retry', () => {
  test.each([
    [408, true],
    [409, true],
    [425, true],
    [429, true],
    [500, true],
    [503, true],
    [599, true],
    [400, false],
    [401, false],
    [403, false],
    [404, false],
    [413, false],
    [422, false],
  ])('after %i is made: %s', (status, expected) => {
    expect(isRetryable(refused(status))).toBe(expected);
    const reported = new ReportedError(readProblem({ code: status, message: 'x' }));
    expect(isRetryable(reported)).toBe(expected);
  });

  test('is made after an incomplete answer, and after an error that the server does not classify', () => {
    expect(isRetryable(new IncompleteAnswer())).toBe(true);
    expect(isRetryable(new ReportedError(readProblem('out of memory')))).toBe(true);
  });

  test.each<[Record<string, string>, number | undefined]>([
    [{}, 500],
    [{ 'retry-after': '3' }, 3_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '20' }, 20_000],
    [{ 'retry-after': '21' }, undefined],
    [{ 'retry-after': 'Tue, 24 Nov 2026 12:00:05 GMT' }, 5_000],
    [{ 'retry-after': 'Tue, 24 Nov 2026 13:00:00 GMT' }, undefined],
    [{ 'retry-after': 'Tue, 24 Nov 2026 11:00:00 GMT' }, 500],
    [{ 'retry-after-ms': '40', 'retry-after': '3' }, 40],
    [{ 'retry-after': 'soon' }, 500],
    [{ 'retry-after': '-1' }, 500],
    [{ 'retry-after': '1e999' }, 500],
  ])('with %j waits %s ms', (headers, expected) => {
    expect(retryDelay(refused(429, headers), 500, NOW)).toBe(expected);
  });
});

describe('the description of an error', () => {
  test.each<[unknown, string]>([
    ['plain', 'plain'],
    [{ error: { message: 'of OpenAI' } }, 'of OpenAI'],
    [{ error: 'of Ollama' }, 'of Ollama'],
    [[{ error: { code: 400, message: 'of Google' } }], 'of Google'],
    [{ message: 'of a gateway' }, 'of a gateway'],
    [{ detail: 'Not Found' }, 'Not Found'],
    [
      { detail: [{ loc: ['body', 'x'], msg: 'Field required', input: { canary: 1 } }] },
      'body.x: Field required',
    ],
    [{ error: { message: '{"error":{"message":"within"}}' } }, 'within'],
    [{ error: { message: 'a', metadata: { raw: 'canary' } } }, 'a'],
    [{ error: { message: 'x\u0000\r\n\t\u202Ey' } }, 'x y'],
    [{ error: { message: 'x'.repeat(9_000) } }, 'x'.repeat(2_000)],
    [null, ''],
    [7, ''],
  ])('%j is read as %j', (value, message) => {
    expect(readProblem(value).message).toBe(message);
  });

  test.each(['None', 'null', 'NULL', ' none ', ''])(
    'names no member with the param %j',
    (param) => {
      expect(readProblem({ error: { message: 'x', param } }).names).toEqual([]);
    },
  );

  test.each<[object, number | undefined]>([
    [{ code: 429 }, 429],
    [{ status: '503' }, 503],
    [{ code: 'rate_limit_exceeded' }, 429],
    [{ type: 'rate_limit_error' }, 429],
    [{ code: 'insufficient_quota', type: 'insufficient_quota' }, 429],
    [{ type: 'overloaded_error' }, 503],
    [{ code: 'unsupported_value', type: 'invalid_request_error' }, undefined],
    [{ code: 7 }, undefined],
  ])('%j has the status %s', (error, status) => {
    expect(readProblem({ error: { message: 'x', ...error } }).status).toBe(status);
  });
});
