import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { rounds } from '../helpers/rounds.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const USERS = rounds(20, 50);
const MESSAGES = 3;

/** A word that only this user sends. */
const wordOf = (user: number) => `word-${String(user).padStart(2, '0')}-end`;
const wordsIn = (text: string) => new Set(text.match(/word-\d\d-end/g));

/** Every message of every user, in order for each user, and pauses of the model. */
const conversations = fc.record({
  order: fc.shuffledSubarray(
    Array.from({ length: USERS * MESSAGES }, (_, index) => index % USERS),
    { minLength: USERS * MESSAGES },
  ),
  pauses: fc.array(fc.nat(20), { minLength: 16, maxLength: 16 }),
});

describe('many concurrent users of one bot', () => {
  test('never get each other’s data, in any order of messages', async () => {
    await fc.assert(
      fc.asyncProperty(conversations, async ({ order, pauses }) => {
        const bot = await tenant.bot('memory { word "What the user says" }');
        let calls = 0;
        const mixed: string[] = [];
        app.upstream.script(async ({ request, call, say, end }) => {
          const { messages } = request.body;
          const words = wordsIn(JSON.stringify(messages));
          if (words.size !== 1) mixed.push(JSON.stringify(messages));
          calls += 1;
          for (let pause = pauses[calls % pauses.length] ?? 0; pause > 0; pause -= 1) {
            await setImmediate();
          }
          const [word = ''] = words;
          if (messages.at(-1)?.role === 'user' && !messages[0]?.content.includes(word)) {
            call(['memory_save', { name: 'word', value: word }]);
            return;
          }
          say(`I know ${word}.`);
          end();
        });
        const send = async (user: number, previous?: Promise<Response>) => {
          // A message that waits too long for its session's turn would be refused.
          await previous;
          const headers = { 'x-session-id': `user-${user}` };
          return tenant.chat(bot, { message: `I say ${wordOf(user)}` }, headers);
        };
        const lastOf = new Map<number, Promise<Response>>();
        const replies = await Promise.all(
          order.map(async (user) => {
            const sent = send(user, lastOf.get(user));
            lastOf.set(user, sent);
            const response = await sent;
            return { user, status: response.status, reply: await response.json() };
          }),
        );
        for (const { user, status, reply } of replies) {
          expect(status).toBe(200);
          expect(reply).toMatchObject({
            response: `I know ${wordOf(user)}.`,
            session_id: `user-${user}`,
          });
        }
        expect(mixed).toEqual([]);
        const sessions = await app.prisma.session.findMany({
          where: { botId: bot },
          include: { memory: true, messages: true },
        });
        expect(sessions.length).toBe(USERS);
        for (const { sessionId, turns, memory, messages } of sessions) {
          const own = new Set([wordOf(Number(sessionId.slice('user-'.length)))]);
          expect(turns).toBe(MESSAGES);
          expect(wordsIn(JSON.stringify([memory, messages]))).toEqual(own);
        }
      }),
      // A run takes seconds, so the limit of time could end the test before the first.
      { numRuns: rounds(1, 3) },
    );
  });
});
