import { expect, test } from 'vitest';
import { createChatPages } from '../../../src/channels/web/chat-pages.ts';
import { createActiveDeployments } from '../../../src/deployments/active.ts';
import { startApp, testCipher } from '../../helpers/app.ts';
import { WEB } from './visitors.ts';

test('the page of a deployment is made once for concurrent and later readers, and at most 8 at a time', async () => {
  const app = await startApp();
  const tenant = await app.tenant();
  const bots = await Promise.all(Array.from({ length: 10 }, () => tenant.bot(WEB)));
  const withoutPage = await tenant.bot();
  await app.prisma.deployment.updateMany({
    where: { botId: { in: bots } },
    data: { channels: ['WEB'] },
  });
  const { loadValid } = createActiveDeployments({ prisma: app.prisma, cipher: testCipher });
  const loads: number[] = [];
  const pages = createChatPages({
    prisma: app.prisma,
    activeDeployments: {
      loadValid(ids) {
        loads.push(ids.length);
        return loadValid(ids);
      },
    },
  });
  const all = [...bots, withoutPage];
  const [one, other] = await Promise.all([pages.find(all), pages.find(all)]);
  const later = await pages.find(all);
  expect([...one.keys()].toSorted()).toEqual(bots.toSorted());
  for (const found of [other, later]) expect(found).toEqual(one);
  expect(loads).toEqual([8, 2]);
});
