import { expect, test } from 'vitest';
import { ownTurn } from '../../src/async/own-turn.ts';

test('each caller gets a turn of the event loop of its own, in their order', async () => {
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const turns: number[] = [];
  const callers = Array.from({ length: 5 }, async (_, caller) => {
    await ownTurn();
    turns.push(turn);
    return caller;
  });
  expect(await Promise.all(callers)).toEqual([0, 1, 2, 3, 4]);
  isOver = true;
  expect(new Set(turns).size).toBe(5);
});
