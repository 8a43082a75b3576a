import { expect } from 'vitest';
import { makeId } from '../../src/text/ids.ts';
import type { Tenant, TestApp } from './app.ts';

/** The tool whose call `makeApproval` stores, as a part of a definition. */
export const SHOP =
  'tools shop { capability refund "Refunds an order." { approval post "https://shop.example/refunds" } }';

/** Stores a denied call of a session, whose outcome the user knows. @returns its id. */
export async function makeApproval(
  { prisma }: TestApp,
  botId: string,
  runId: string,
  deploymentId: string,
  sessionId = 'user-1',
): Promise<string> {
  const id = makeId('tcl');
  const [at, later] = [new Date(), new Date('2100-01-01')];
  const call = { id, runId, position: 0, callId: 'call_1', digest: id, arguments: '{}' };
  const name = 'shop.refund';
  await prisma.toolCall.create({ data: { ...call, name, status: 'DENIED', startedAt: at } });
  await prisma.approval.create({
    data: {
      id,
      botId,
      runId,
      deploymentId,
      environment: 'PRODUCTION',
      channel: 'API',
      sessionId,
      background: false,
      name,
      arguments: '{}',
      values: {},
      digest: id,
      status: 'DENIED',
      expiresAt: later,
      decidedAt: at,
      settledAt: at,
    },
  });
  return id;
}

/** How the server begins a message to the model about the outcome of a call. */
const NOTICE = 'Notice of the server';

/**
 * Scripts a model that requests some calls for each message of a user, repeats the results of the calls, and repeats a notice
 * about the outcome of a call.
 */
export function requestAndRepeat(
  { upstream }: TestApp,
  ...calls: [name: string, input: unknown][]
) {
  upstream.script(({ request, call, say, end }) => {
    const { messages } = request.body;
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    const results = messages.slice(asked + 1).filter(({ role }) => role === 'tool');
    const text = messages[asked]?.content ?? '';
    const isNotice = text.includes(NOTICE);
    if (!isNotice && results.length === 0) return call(...calls);
    say(isNotice ? `Outcome: ${text}` : results.map(({ content }) => content).join('\n'));
    return end();
  });
}

/** The approvals of a bot with their calls, oldest first. */
export function approvalsOf({ prisma }: Pick<TestApp, 'prisma'>, botId: string) {
  return prisma.approval.findMany({
    where: { botId },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    include: { toolCall: true },
  });
}

/** The only approval of a bot. */
export async function approvalOf(app: Pick<TestApp, 'prisma'>, botId: string) {
  const [approval, ...others] = await approvalsOf(app, botId);
  if (!approval || others.length > 0)
    throw new Error(`${others.length + (approval ? 1 : 0)} calls`);
  return approval;
}

/** Decides on a call over GraphQL. @returns the code and the message of the error, if there is one. */
export async function decide(
  app: TestApp,
  { apiKey }: Pick<Tenant, 'apiKey'>,
  id: string,
  decision: 'APPROVE' | 'DENY',
  more: { note?: string; arguments?: unknown } = {},
): Promise<{ code: unknown; message: string } | undefined> {
  const { errors } = await app.graphql(
    apiKey,
    `mutation ($id: ID!, $decision: ApprovalDecision!, $note: String, $arguments: JSON) {
      decideApproval(id: $id, decision: $decision, note: $note, arguments: $arguments) { id } }`,
    { id, decision, ...more },
  );
  const error = errors?.[0];
  return error && { code: error.extensions.code, message: error.message };
}

/** Waits until all that follows a decision is done. @returns the approval, its call, and the run that tells the user. */
export async function settled({ prisma }: Pick<TestApp, 'prisma'>, id: string) {
  const find = () =>
    prisma.approval.findUniqueOrThrow({ where: { id }, include: { toolCall: true } });
  await expect.poll(async () => (await find()).settledAt).not.toBeNull();
  const approval = await find();
  const followUp =
    approval.followUpId === null
      ? null
      : await prisma.run.findUniqueOrThrow({ where: { id: approval.followUpId } });
  return { approval, toolCall: approval.toolCall, followUp };
}
