import { type ErrorDetail, invalidInput } from '../errors/errors.ts';
import type { Channel, PrismaClient } from '../generated/prisma/client.ts';
import type { SessionRef } from './history.ts';

/** A channel that makes its own session ids. */
export type SessionChannel = Exclude<Channel, 'API'>;

const PREFIXES = { WEB: 'web:', TELEGRAM: 'telegram:' } as const satisfies Record<
  SessionChannel,
  string
>;

/**
 * Makes the session id of a user of a channel, such as `telegram:42:7`. Only channels make such ids.
 *
 * @param parts visible characters without `:`. They identify the user within the channel.
 */
export function channelSessionId(channel: SessionChannel, ...parts: [string, ...string[]]): string {
  return PREFIXES[channel] + parts.join(':');
}

/** The first part of a session id of a channel, such as `42` of `telegram:42:7`. Undefined for the id of another channel. */
export function chatOf(channel: SessionChannel, sessionId: string): string | undefined {
  const prefix = PREFIXES[channel];
  return sessionId.startsWith(prefix) ? sessionId.slice(prefix.length).split(':')[0] : undefined;
}

/** Whether a session id has the prefix of a channel. */
export function isChannelSessionId(sessionId: string): boolean {
  return Object.values(PREFIXES).some((prefix) => sessionId.startsWith(prefix));
}

/**
 * Rejects a session id with the prefix of a channel unless the session exists: API clients may continue the sessions of
 * channels, but not create them.
 *
 * @param path the field of the request that holds the id.
 * @throws GatewayError `invalid_request`
 */
export async function assertNotReserved(
  prisma: Pick<PrismaClient, 'session'>,
  session: SessionRef,
  path: ErrorDetail['path'],
): Promise<void> {
  const { botId, environment, sessionId } = session;
  if (!isChannelSessionId(sessionId)) return;
  const where = { botId_environment_sessionId: { botId, environment, sessionId } };
  if (await prisma.session.findUnique({ where, select: { id: true } })) return;
  const prefix = sessionId.slice(0, sessionId.indexOf(':') + 1);
  const message = `begins with "${prefix}", which is reserved for the sessions of a channel, and there is no such session`;
  throw invalidInput([{ path, message }]);
}
