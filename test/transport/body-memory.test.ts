import { describe, expect, test } from 'vitest';
import {
  type BodyOwner,
  createBodyMemory,
  MAX_BODY_BYTES,
} from '../../src/transport/body-memory.ts';

const account = (id: string): BodyOwner => ({ kind: 'account', id });
const address = (id: string): BodyOwner => ({ kind: 'address', id });
const TOO_MUCH = 'Too many request bodies';

describe('the memory of arriving bodies', () => {
  test.each([
    ['an account', account('one'), account('other'), 32],
    ['an address without a key', address('one'), address('other'), 4],
  ])('is limited for %s, whose bodies are counted as they grow', (_who, one, other, mebibytes) => {
    const { open } = createBodyMemory();
    const bodies = Array.from({ length: mebibytes }, () => open(one));
    for (const body of bodies) body.resize(MAX_BODY_BYTES / 2);
    for (const body of bodies) body.resize(MAX_BODY_BYTES);
    const next = open(one);
    expect(() => next.resize(1)).toThrow(TOO_MUCH);
    open(other).resize(MAX_BODY_BYTES);
    bodies[0]?.resize(MAX_BODY_BYTES - 1);
    next.resize(1);
    expect(() => next.resize(2)).toThrow(TOO_MUCH);
    bodies[1]?.resize(0);
    next.resize(MAX_BODY_BYTES);
  });

  test.each([
    ['accounts', account, 128, 32],
    ['addresses', address, 16, 4],
  ])(
    'is limited for all %s together, but a small body is always held',
    (_who, owner, all, each) => {
      const { open } = createBodyMemory();
      const bodies = Array.from({ length: all }, (_, index) =>
        open(owner(`${index % (all / each)}`)),
      );
      for (const body of bodies) body.resize(MAX_BODY_BYTES);
      // The first 16 KiB of each body count against its owner alone.
      const uncounted = all * 16 * 1024;
      const last = open(owner('another'));
      last.resize(uncounted + 16 * 1024);
      expect(() => last.resize(uncounted + 16 * 1024 + 1)).toThrow(TOO_MUCH);
      const small = open(owner('small'));
      small.resize(16 * 1024);
      expect(() => small.resize(16 * 1024 + 1)).toThrow(TOO_MUCH);
    },
  );

  test('of one body is not counted twice by those that follow it', () => {
    const { open } = createBodyMemory();
    for (let count = 0; count < 100; count += 1) {
      const body = open(address('one'));
      body.resize(4 * MAX_BODY_BYTES);
      body.resize(0);
    }
  });
});
