/**
 * One attacking process. It reports by a message to its parent that it attacks, performs random attacks, a few at a time,
 * until it is stopped, and prints their outcomes.
 *
 * Usage: node attacker.ts TARGET NUMBER SEED. TARGET is a `Target` as JSON. NUMBER, from 0, also determines the process's
 * loopback address, so that each attacker is a separate client.
 */
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { seededRandom } from '../helpers/seeded-random.ts';
import type { Answer, Attack, AttackContext, Attacks, Request, Target } from './attack.ts';
import { json } from './attack.ts';
import { definitionAttacks } from './attacks/definitions.ts';
import { documentAttacks } from './attacks/documents.ts';
import { entranceAttacks } from './attacks/entrances.ts';
import { feedAttacks } from './attacks/feeds.ts';
import { headerAttacks } from './attacks/headers.ts';
import { runAttacks } from './attacks/runs.ts';
import { socketAttacks } from './attacks/sockets.ts';

/** The report of one attacking process, which is all that it prints. */
export type Report = {
  /** The number of each outcome by attack: an HTTP status, or `closed`. */
  outcomes: Record<string, Record<string, number>>;
  /** The attacks whose response contained the honest tenant's text. */
  leaks: string[];
};

const CONCURRENCY = 6;
const ATTACK_LIMIT_MS = 20_000;
const READ_LIMIT = 1024 * 1024;

const [, , targetJson = '', number = '0', seed = '1'] = process.argv;
const target = JSON.parse(targetJson) as Target;
const localAddress = `127.0.0.${Number(number) + 2}`;
const random = seededRandom(Number(seed) + Number(number));
const attacks: Attacks = {
  ...documentAttacks,
  ...socketAttacks,
  ...definitionAttacks,
  ...runAttacks,
  ...headerAttacks,
  ...feedAttacks,
  ...entranceAttacks,
};
const agent = new Agent({ keepAlive: true, maxSockets: 40, localAddress });
const { hostname, port } = new URL(target.url);
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
const report: Report = { outcomes: {}, leaks: [] };

function send(
  { method = 'GET', path, headers, body }: Request,
  signal: AbortSignal,
): Promise<Answer> {
  const payload = typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : body;
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      agent,
      hostname,
      port,
      localAddress,
      method,
      path,
      headers,
      signal,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        if (text.length < READ_LIMIT) text += piece;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.end(payload);
  });
}

function contextOf(name: string, signal: AbortSignal): AttackContext {
  const account = target.accounts[random.int(0, target.accounts.length - 1)];
  if (!account) throw new Error('There are no hostile accounts.');
  const noted = async (request: Request) => {
    const answer = await send(request, signal);
    note(name, String(answer.status));
    if (answer.text.includes(target.canary)) report.leaks.push(name);
    return answer;
  };
  const sendWithKey = ({ headers, ...request }: Request) =>
    noted({ ...request, headers: { authorization: `Bearer ${account.apiKey}`, ...headers } });
  return {
    target,
    account,
    random,
    signal,
    send: noted,
    sendWithKey,
    graphql: (query, variables) =>
      sendWithKey({ method: 'POST', path: '/graphql', headers: json, body: { query, variables } }),
    connect: () => {
      const socket = connect({ host: hostname, port: Number(port), localAddress });
      signal.addEventListener('abort', () => socket.destroy());
      return socket.on('error', () => {});
    },
    pause: (ms) => setTimeout(ms, undefined, { signal }),
  };
}

function note(name: string, outcome: string) {
  const outcomes = report.outcomes[name] ?? {};
  report.outcomes[name] = { ...outcomes, [outcome]: (outcomes[outcome] ?? 0) + 1 };
}

async function perform(name: string, attack: Attack) {
  const ended = new AbortController();
  const signal = AbortSignal.any([stop.signal, ended.signal, AbortSignal.timeout(ATTACK_LIMIT_MS)]);
  try {
    // An attack may wait for an event that a destroyed socket never has.
    await Promise.race([attack(contextOf(name, signal)), once(signal, 'abort')]);
    signal.throwIfAborted();
  } catch {
    note(name, signal.aborted ? 'ended' : 'closed');
  } finally {
    ended.abort();
  }
}

async function attackUntilStopped() {
  const names = Object.keys(attacks);
  while (!stop.signal.aborted) {
    const name = names[random.int(0, names.length - 1)] ?? '';
    const attack = attacks[name];
    if (attack) await perform(name, attack);
  }
}

process.send?.('attacking');
await Promise.all(Array.from({ length: CONCURRENCY }, attackUntilStopped));
agent.destroy();
console.log(JSON.stringify(report));
