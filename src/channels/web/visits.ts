import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { networkOf } from '../../accounts/client-network.ts';
import { createSealedClaims } from '../../accounts/sealed-claims.ts';
import type { IssuedToken, SessionTokens } from '../../accounts/session-tokens.ts';
import type { FixedWindowCounter, WindowLimit } from '../../coordination/fixed-window-counter.ts';
import { GatewayError, invalidInput } from '../../errors/errors.ts';
import type { Bot } from '../../generated/prisma/client.ts';
import { channelSessionId } from '../../sessions/channel-ids.ts';

/** A visitor's access to a session. */
export type Visit = IssuedToken & {
  sessionId: string;
  /** Begins a further visit of the same session, within `RESUME_DAYS`. */
  resume: string;
};

/** Visits of people to the chat pages of bots. */
export type Visits = {
  /**
   * Begins a visit with a new session. A session is stored with its first message.
   *
   * @param address the visitor's.
   * @throws GatewayError `rate_limit_exceeded` if the address has begun too many sessions in this UTC hour.
   */
  begin(bot: Bot, address: string | undefined): Promise<Visit>;
  /**
   * Begins a visit of an earlier session.
   *
   * @throws GatewayError `invalid_request` if `resume` is forged, expired or of another bot.
   */
  continue(bot: Bot, resume: string): Promise<Visit>;
  /**
   * Counts a visitor's message.
   *
   * @throws GatewayError `rate_limit_exceeded` if the address has sent too many messages in this UTC minute.
   */
  takeMessage(bot: Bot, address: string | undefined): Promise<void>;
};

/** Days for which a session can be visited again. Each visit begins them anew. */
const RESUME_DAYS = 180;
const DAY_S = 86_400;
const HOUR_S = 3_600;
const MINUTE_S = 60;

const claims = z.object({ bot: z.string(), session: z.string() });

type Parts = {
  sessionTokens: Pick<SessionTokens, 'issueToVisitor'>;
  /** A separate counter, so that a flood of visitors cannot evict the counts of accounts. */
  counter: FixedWindowCounter;
  /** The secret key, then the previous ones. */
  secretKeys: Uint8Array[];
  now?: (() => number) | undefined;
};

export function createVisits({
  sessionTokens,
  counter,
  secretKeys,
  now = Date.now,
}: Parts): Visits {
  const resumes = createSealedClaims({ secretKeys, audience: 'parley-visit', claims, now });

  const visit = async (botId: string, sessionId: string): Promise<Visit> => {
    const expiresAt = Math.floor(now() / 1_000) + RESUME_DAYS * DAY_S;
    return {
      ...(await sessionTokens.issueToVisitor(botId, sessionId)),
      sessionId,
      resume: await resumes.seal({ bot: botId, session: sessionId }, expiresAt),
    };
  };

  return {
    async begin({ id, visitorSessionsPerHour }, address) {
      const name = `visitor-sessions:${id}:${networkOf(address)}`;
      const limit = { ...UNLIMITED, perHour: visitorSessionsPerHour };
      const { taken, now: at } = await counter.take(name, 1, limit);
      if (!taken) throw tooMany('new conversations', at, HOUR_S);
      return visit(id, channelSessionId('WEB', randomBytes(18).toString('base64url')));
    },

    async continue({ id }, resume) {
      const earlier = await resumes.open(resume);
      if (earlier?.bot === id) return visit(id, earlier.session);
      throw invalidInput([{ path: 'resume', message: 'is not valid or has expired' }]);
    },

    async takeMessage({ id, visitorMessagesPerMinute }, address) {
      const name = `visitor-messages:${id}:${networkOf(address)}`;
      const limit = { ...UNLIMITED, perMinute: visitorMessagesPerMinute };
      const { taken, now: at } = await counter.take(name, 1, limit);
      if (!taken) throw tooMany('messages', at, MINUTE_S);
    },
  };
}

const UNLIMITED: WindowLimit = {
  perMinute: Number.MAX_SAFE_INTEGER,
  perDay: Number.MAX_SAFE_INTEGER,
};

/** @param at Unix seconds. */
function tooMany(what: string, at: number, windowSeconds: number): GatewayError {
  const retryAfter = windowSeconds - (at % windowSeconds);
  const minutes = Math.ceil(retryAfter / MINUTE_S);
  const wait =
    minutes > 1 ? `${minutes} minutes` : `${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}`;
  const message = `Too many ${what} from this address. Wait ${wait}.`;
  return new GatewayError('rate_limit_exceeded', message, { retryAfter });
}
