import { describe, expect, test } from 'vitest';
import { createFrameReader } from '../../src/transport/graphql/websocket-frames.ts';
import { frame, headerOfLongFrame } from '../helpers/raw-websocket.ts';

const PING = 9;

/** Reads bytes in pieces. @returns the counts, and the state after the last piece. */
function readIn(bytes: Buffer, size: number) {
  const read = createFrameReader();
  const total = { frames: 0, empty: 0, ends: 0, isUnfinished: false };
  for (let at = 0; at < bytes.length; at += size) {
    const { frames, empty, isNew, isUnfinished } = read(bytes.subarray(at, at + size));
    total.frames += frames;
    total.empty += empty;
    total.ends += isNew ? 1 : 0;
    total.isUnfinished = isUnfinished;
  }
  return total;
}

describe.each([1, 2, 7, 1_000, 1_000_000])('frames in pieces of %i bytes', (size) => {
  test.each([
    ['a short message', [frame('Hi')], { frames: 1, empty: 0, isUnfinished: false }],
    ['a long message', [frame('x'.repeat(60_000))], { frames: 1, empty: 0, isUnfinished: false }],
    [
      'a very long message',
      [headerOfLongFrame(70_000), Buffer.alloc(70_000)],
      { frames: 1, empty: 0, isUnfinished: false },
    ],
    [
      'a part of a very long message',
      [headerOfLongFrame(70_000), Buffer.alloc(69_999)],
      { frames: 1, empty: 0, isUnfinished: true },
    ],
    [
      'a message of three frames with a ping between them',
      [
        frame('a', { isFinal: false }),
        frame('', { opcode: PING }),
        frame('b', { opcode: 0, isFinal: false }),
        frame('c', { opcode: 0 }),
      ],
      { frames: 4, empty: 1, isUnfinished: false },
    ],
    [
      'a message without its last frame',
      [frame('a', { isFinal: false }), frame('data', { opcode: PING })],
      { frames: 2, empty: 1, isUnfinished: true },
    ],
    [
      'a part of a header after a message',
      [frame('a'), frame('b').subarray(0, 3)],
      { frames: 1, empty: 0, isUnfinished: true },
    ],
  ])('are counted: %s', (_what, frames, expected) => {
    expect(readIn(Buffer.concat(frames), size)).toMatchObject(expected);
  });
});

test('a message that ends in a piece is told from the one that begins in it', () => {
  const read = createFrameReader();
  const first = frame('first');
  expect(read(first.subarray(0, 3))).toMatchObject({ isNew: false, isUnfinished: true });
  const rest = Buffer.concat([first.subarray(3), frame('second').subarray(0, 4)]);
  expect(read(rest)).toMatchObject({ isNew: true, isUnfinished: true });
});
