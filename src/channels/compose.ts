import type { KeyLookups } from '../accounts/key-lookup.ts';
import type { Limits } from '../accounts/limits.ts';
import type { Approvals } from '../approvals/approvals.ts';
import type { DeliverOutcome } from '../approvals/settle.ts';
import type { Lifetime } from '../async/lifetime.ts';
import type { Looks } from '../coordination/looks.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { Owner } from '../coordination/worker-lease.ts';
import type { ActiveDeployments } from '../deployments/active.ts';
import { createDeploymentChanges } from '../deployments/changes.ts';
import type { StartChat } from '../execution/start-chat.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import type { Cancel } from '../runs/life/cancel.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { type ChannelStates, createChannelStates } from './states.ts';
import { createTelegramApi, type TelegramApi } from './telegram/api.ts';
import { createApprovalQueue } from './telegram/approval-queue.ts';
import { startApprovalWorker } from './telegram/approval-worker.ts';
import { createBlockedChats } from './telegram/blocked-chats.ts';
import { createButtons } from './telegram/buttons.ts';
import { createTelegramChat } from './telegram/chat.ts';
import { createCommands } from './telegram/commands.ts';
import { createTelegramConnector, type TelegramConnector } from './telegram/connector.ts';
import { startConsumer, type TelegramConsumer } from './telegram/consumer.ts';
import { createHandleUpdate } from './telegram/handle.ts';
import { createInbox, INBOX_CHANNEL, type Inbox } from './telegram/inbox.ts';
import { createOutcomes } from './telegram/outcomes.ts';
import { startPoller } from './telegram/poller.ts';
import { createHandlePress } from './telegram/press.ts';
import { createReceive } from './telegram/receive.ts';
import { createRegistration, type Registration } from './telegram/registration.ts';
import { createTellOutcome } from './telegram/tell-outcome.ts';
import { createTelegramUse, type TelegramUse } from './telegram/use.ts';
import { createWebhook, type TelegramWebhook } from './telegram/webhook.ts';

/** Settings of the Telegram channel. */
export type TelegramOptions = {
  /** Base URL of the Bot API server; Telegram's own by default. */
  apiRoot?: string | undefined;
  /** Milliseconds that a deploy waits for Telegram. */
  waitMs?: number | undefined;
  /** Milliseconds after a deployment in which it may be connected. */
  pendingMs?: number | undefined;
};

/** What connects deployments to their channels. Deployments and approvals depend on it. */
export type ConnectionsDomain = {
  api: TelegramApi;
  states: ChannelStates;
  registration: Registration;
  connector: TelegramConnector;
  use: TelegramUse;
  inbox: Inbox;
  deliverOutcome: DeliverOutcome;
};

type ConnectionParts = {
  prisma: PrismaClient;
  owner: Pick<Owner, 'id' | 'isAlive'>;
  looks: Pick<Looks, 'add' | 'now'>;
  pubsub: PubSub;
  activeDeployments: ActiveDeployments;
  /** The server's public base URL. Webhooks need `https:`. */
  publicUrl?: string | undefined;
  telegram?: TelegramOptions | undefined;
  log: Log;
  lifetime: Lifetime;
};

export function createChannelConnections({
  prisma,
  owner,
  looks,
  pubsub,
  activeDeployments,
  publicUrl,
  telegram = {},
  log,
  lifetime,
}: ConnectionParts): ConnectionsDomain {
  const { apiRoot, waitMs = 1_000, pendingMs = 40_000 } = telegram;
  const registeredUrl = publicUrl?.startsWith('https:') ? publicUrl : '';
  const api = createTelegramApi({ apiRoot });
  const changes = createDeploymentChanges({ pubsub });
  const notify: typeof changes.notify = (deployment) => {
    changes.notify(deployment);
    // Messages that arrive before their channel is connected wait for it.
    pubsub.publish(INBOX_CHANNEL, '');
  };
  const states = createChannelStates({ prisma, notify });
  const registered = { prisma, api, activeDeployments, registeredUrl, waitMs };
  const registration = createRegistration(registered);
  const use = createTelegramUse(looks);
  lifetime.defer(pubsub.subscribe(INBOX_CHANNEL, use.changed));
  const connecting = { prisma, registration, states, use, registeredUrl, waitMs, pendingMs, log };
  const connector = createTelegramConnector(connecting);
  lifetime.onStart(() => {
    if (publicUrl && !registeredUrl)
      log.warn(
        { publicUrl },
        'PUBLIC_URL is not https:, so the updates of Telegram bots are polled.',
      );
    return connector.start();
  });
  const inbox = createInbox({ prisma, owner, pubsub });
  const deliverOutcome = createOutcomes({ prisma, inbox });
  return { api, states, registration, connector, use, inbox, deliverOutcome };
}

/** What answers the messages of channels. */
export type ChannelsDomain = {
  telegramWebhook: TelegramWebhook;
  /** Takes no more messages. The replies in progress continue. */
  stopTaking(): Promise<void>;
};

type Parts = {
  prisma: PrismaClient;
  owner: Owner;
  pubsub: PubSub;
  limits: Pick<Limits, 'takeForAccount'>;
  lookUps: KeyLookups;
  activeDeployments: ActiveDeployments;
  connections: ConnectionsDomain;
  sessions: Sessions;
  cancel: Cancel;
  startChat: StartChat;
  approvals: Pick<Approvals, 'decide'>;
  /** The current secret key, then the previous ones. */
  secretKeys: Uint8Array[];
  log: Log;
  lifetime: Lifetime;
};

export function createChannelsDomain({
  prisma,
  owner,
  pubsub,
  limits,
  lookUps,
  activeDeployments,
  connections: { api, states, registration, connector, use, inbox },
  sessions,
  cancel,
  startChat,
  approvals,
  secretKeys,
  log,
  lifetime,
}: Parts): ChannelsDomain {
  const receive = createReceive({ inbox });
  const blockedChats = createBlockedChats({ prisma, states });
  const buttons = createButtons(secretKeys);
  const handle = createHandleUpdate({
    prisma,
    api,
    activeDeployments,
    inbox,
    chat: createTelegramChat({ prisma, startChat, limits, inbox }),
    commands: createCommands({ prisma, sessions, cancel }),
    tellOutcome: createTellOutcome({ prisma, inbox }),
    press: createHandlePress({ prisma, approvals, buttons }),
    blockedChats,
    connector,
    log,
  });
  let consumer: TelegramConsumer | undefined;
  lifetime.onStart(() => {
    consumer = startConsumer({ inbox, use, handle, pubsub, log });
    return consumer;
  });
  lifetime.onStart(() =>
    startPoller({ prisma, owner, use, registration, connector, receive, log }),
  );
  const queue = createApprovalQueue({ prisma, owner });
  const showing = { prisma, queue, use, registration, buttons, blockedChats, pubsub, log };
  lifetime.onStart(() => startApprovalWorker(showing));
  return {
    telegramWebhook: createWebhook({ prisma, lookUps, registration, receive }),

    async stopTaking() {
      await consumer?.stop();
    },
  };
}
