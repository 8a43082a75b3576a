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
    ['accounts', account, 4, 128],
    ['accounts', account, 40, 128],
    ['addresses', address, 4, 16],
    ['addresses', address, 40, 16],
  ])(
    'leaves a newcomer half as much as each of several greedy %s has: %#',
    (_who, owner, count, all) => {
      const { open } = createBodyMemory();
      const greedy = Array.from({ length: count }, (_, index) => ({
        id: owner(`${index}`),
        bytes: 0,
      }));
      const growing = new Set(greedy);
      const STEP = MAX_BODY_BYTES / 16;
      while (growing.size > 0) {
        for (const one of growing) {
          try {
            open(one.id).resize(STEP);
            one.bytes += STEP;
          } catch {
            growing.delete(one);
          }
        }
      }
      const most = Math.max(...greedy.map(({ bytes }) => bytes));
      const fair = (all * MAX_BODY_BYTES) / (count + 1);
      // The first 16 KiB of each body count against its owner alone.
      expect(most).toBeLessThan((fair * 4) / 3 + STEP);
      open(owner('honest')).resize((fair - STEP) / 2);
    },
  );

  test('always holds a small body of an owner with few others', () => {
    const { open } = createBodyMemory();
    for (let owner = 0; owner < 10_000; owner += 1) {
      try {
        open(account(`${owner}`)).resize(64 * 1024);
      } catch {
        // The memory is used up.
      }
    }
    const small = open(account('small'));
    small.resize(16 * 1024);
    expect(() => small.resize(64 * 1024)).toThrow(TOO_MUCH);
  });

  test('of one body is not counted twice by those that follow it', () => {
    const { open } = createBodyMemory();
    for (let count = 0; count < 100; count += 1) {
      const body = open(address('one'));
      body.resize(4 * MAX_BODY_BYTES);
      body.resize(0);
    }
  });
});
