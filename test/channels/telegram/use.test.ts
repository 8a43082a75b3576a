import { expect, test } from 'vitest';
import { createTelegramUse } from '../../../src/channels/telegram/use.ts';
import type { Look } from '../../../src/coordination/looks.ts';

function createUse() {
  let answers = 0;
  let used = false;
  const added: Look[] = [];
  const now = async () => {
    answers += 1;
    await Promise.resolve();
    for (const look of added) look.onAnswer(used, new AbortController().signal);
  };
  const use = createTelegramUse({ add: (look) => void added.push(look), now });
  return {
    ...use,
    look: now,
    deploy: () => {
      used = true;
    },
    answers: () => answers,
  };
}

test('an unused channel costs no statement but the look, whatever the number of its tasks', async () => {
  const { isUsed, answers, look } = createUse();
  await look();
  for (let task = 0; task < 10; task += 1) expect(await isUsed()).toBe(false);
  expect(answers()).toBe(1);
});

test('a notification makes the process look anew, unless the channel is known to be used', async () => {
  const { isUsed, changed, deploy, answers } = createUse();
  changed();
  expect(await isUsed()).toBe(false);
  deploy();
  changed();
  expect(await isUsed()).toBe(true);
  expect(answers()).toBe(2);
  changed();
  expect(await isUsed()).toBe(true);
  expect(answers()).toBe(2);
});
