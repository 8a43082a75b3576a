import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createLifetime } from '../../../src/async/lifetime.ts';
import { createChannelConnections } from '../../../src/channels/compose.ts';
import {
  createInbox,
  INBOX_CHANNEL,
  type TakenUpdate,
} from '../../../src/channels/telegram/inbox.ts';
import { createPubSub } from '../../../src/coordination/pubsub.ts';
import { createActiveDeployments } from '../../../src/deployments/active.ts';
import { makeId } from '../../../src/text/ids.ts';
import { testCipher } from '../../helpers/app.ts';
import { testDatabase } from '../../helpers/database.ts';
import { NO_LOOKS } from '../../helpers/looks.ts';

const { prisma } = await testDatabase();

test('a message that arrives before its deployment is connected is taken at once when it is', async () => {
  const [telegramBotId, botId, accountId] = [makeId('bot'), makeId('bot'), makeId('acc')];
  const [deploymentId, environment] = [makeId('dep'), 'PRODUCTION' as const];
  await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'FREE' } });
  await prisma.bot.create({ data: { id: botId, accountId, name: 'Bot' } });
  const deployment = { id: deploymentId, botId, environment, source: '' };
  await prisma.deployment.create({ data: { ...deployment, status: 'PENDING' } });
  const state = { deploymentId, channel: 'TELEGRAM' } as const;
  await prisma.channelState.create({
    data: { ...state, botId, environment, externalId: telegramBotId, status: 'PENDING' },
  });

  const pubsub = createPubSub();
  const owner = { id: () => makeId('own'), isAlive: () => true };
  const inbox = createInbox({ prisma, owner, pubsub });
  const { states } = createChannelConnections({
    looks: NO_LOOKS,
    prisma,
    owner,
    pubsub,
    activeDeployments: createActiveDeployments({ prisma, cipher: testCipher }),
    log: pino({ level: 'silent' }),
    lifetime: createLifetime(),
  });
  const taken: Promise<TakenUpdate | undefined>[] = [];
  pubsub.subscribe(INBOX_CHANNEL, () => void taken.push(inbox.take([])));

  const message = { chatId: 42, request: { kind: 'text', text: 'Hi' } } as const;
  const update = { updateId: 1, sessionId: 'telegram:42', message };
  await inbox.store({ telegramBotId, botId, environment }, update);
  expect(await Promise.all(taken)).toEqual([undefined]);
  await states.connected(state, 0, '');
  expect(await Promise.all(taken)).toEqual([undefined, expect.objectContaining({ botId })]);
});
