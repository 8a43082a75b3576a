import { expect } from 'vitest';
import { startRetention } from '../../src/runs/life/retention.ts';
import type { GraphQLAnswer, Tenant, TestApp } from '../helpers/app.ts';
import type { Site } from '../helpers/site.ts';
import type { Script } from '../helpers/upstream.ts';

/** The text that begins each message about an outcome. */
const NOTICE = 'Notice of the server';

/** A model that requests a refund for each message, and repeats the outcome of a notice. */
export const requestRefund =
  (input: unknown = { order_id: 'A-1', amount: 5 }): Script =>
  ({ request, call, say, end }) => {
    const last = request.body.messages.at(-1);
    if (last?.role === 'user' && !last.content.includes(NOTICE))
      return call(['orders_refund', input]);
    say(last?.role === 'tool' ? 'I asked.' : `Outcome: ${last?.content}`);
    return end();
  };

/** Tools with a refund that needs approval. */
export const refundTools = ({ origin }: Pick<Site, 'origin'>, path = '/refunds') => `tools orders {
    capability lookup "Finds an order." { input { order_id string } get "${origin}/orders/{{input.order_id}}" }
    capability note "Adds a note." { input { text string } post "${origin}/notes" }
    capability refund "Refunds an order." {
      input { order_id string  amount number }
      approval "A refund is paid out at once."
      post "${origin}${path}"
    }
  }`;

/** Sends a message over REST. @returns the id of the run that asks. */
export async function askForRefund(tenant: Tenant, bot: string, session = 'ada'): Promise<string> {
  const answer = await tenant.chat(bot, { message: 'Refund A-1.' }, { 'x-session-id': session });
  const { run_id, response } = await answer.json();
  expect(response).toBe('I asked.');
  return run_id;
}

/** The id of the bot's only call that waits. */
export async function waitingCall({ prisma }: TestApp, botId: string): Promise<string> {
  const { id } = await prisma.approval.findFirstOrThrow({ where: { botId, status: 'WAITING' } });
  return id;
}

/** Decides on a call over GraphQL. */
export function decide(
  { graphql }: Pick<Tenant, 'graphql'>,
  id: string,
  decision: 'APPROVE' | 'DENY',
  more: object = {},
): Promise<GraphQLAnswer> {
  return graphql(
    `mutation ($id: ID!, $decision: ApprovalDecision!, $note: String, $arguments: JSON) {
      decideApproval(id: $id, decision: $decision, note: $note, arguments: $arguments) {
        id status note decidedAt decidedById editedArguments request { method url body } } }`,
    { id, decision, ...more },
  );
}

/** The first error of an answer, as its code and message. */
export const errorOf = ({ errors }: GraphQLAnswer) =>
  errors?.[0] && { code: errors[0].extensions.code, message: errors[0].message };

/** Ends the time in which a person can decide. */
export async function expire({ prisma }: TestApp, id: string): Promise<void> {
  await prisma.approval.update({ where: { id }, data: { expiresAt: new Date(0) } });
}

/** Waits until all that follows a decision is done. @returns the id of the run that told the user. */
export async function settled({ prisma }: TestApp, id: string): Promise<string> {
  const find = () => prisma.approval.findUniqueOrThrow({ where: { id } });
  await expect.poll(async () => (await find()).settledAt, { timeout: 60_000 }).not.toBeNull();
  return (await find()).followUpId ?? '';
}

/**
 * Sweeps until a value is the expected one. A sweep leaves out what another one does at that moment, such as the first sweep of
 * an app, and would follow only after ten minutes, so that further ones begin.
 */
export async function sweepUntil<Value>(
  options: Parameters<typeof startRetention>[0],
  read: () => Promise<Value>,
  expected: Value,
): Promise<void> {
  await using sweeps = new AsyncDisposableStack();
  const sweepAndRead = () => {
    sweeps.use(startRetention(options));
    return read();
  };
  await expect.poll(sweepAndRead, { interval: 250 }).toEqual(expected);
}
