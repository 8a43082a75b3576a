import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createReserveBody, MAX_BODY_BYTES } from '../../src/transport/arriving-bodies.ts';

const request = (headers: Record<string, string>) =>
  Object.assign(new EventEmitter(), { headers }) as IncomingMessage;
const answer = () => new EventEmitter() as ServerResponse;
const BUDGET = 3 * MAX_BODY_BYTES;

describe('the memory for incoming bodies', () => {
  test('is reserved by content length, separately for each owner', () => {
    const reserve = createReserveBody();
    const third = () => request({ 'content-length': String(MAX_BODY_BYTES) });
    for (let count = 0; count < 3; count += 1) reserve(third(), answer(), 'one', BUDGET);
    expect(() => reserve(request({ 'content-length': '1' }), answer(), 'one', BUDGET)).toThrow(
      'Too many request bodies',
    );
    reserve(third(), answer(), 'other', BUDGET);
  });

  test.each([
    ['the body has arrived', 'end'],
    ['the response has ended', 'close'],
  ])('is released once when %s', (_when, event) => {
    const reserve = createReserveBody();
    const first = request({ 'content-length': String(MAX_BODY_BYTES) });
    const firstAnswer = answer();
    reserve(first, firstAnswer, 'one', BUDGET);
    const chunked = () =>
      reserve(request({ 'transfer-encoding': 'chunked' }), answer(), 'one', BUDGET);
    chunked();
    chunked();
    expect(chunked).toThrow('Too many request bodies');
    (event === 'end' ? first : firstAnswer).emit(event);
    first.emit('end');
    firstAnswer.emit('close');
    chunked();
    expect(chunked).toThrow('Too many request bodies');
  });
});
