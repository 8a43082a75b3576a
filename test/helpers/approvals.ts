import { makeId } from '../../src/text/ids.ts';
import type { TestApp } from './app.ts';

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
