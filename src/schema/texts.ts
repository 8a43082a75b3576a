import { Prisma } from '../generated/prisma/client.ts';
import { longColumns } from './long-columns.ts';

/** The long columns of runs. */
export const RUN_TEXTS = longColumns(Prisma.sql`runs`, {
  input: 'input',
  response: 'response',
  metadata: 'metadata',
  trace: 'spans',
});

/** The long columns of deployments. */
export const DEPLOYMENT_TEXTS = longColumns(Prisma.sql`deployments`, {
  source: 'source',
  diagnostics: 'diagnostics',
});

/** The long columns of messages. */
export const MESSAGE_TEXTS = longColumns(Prisma.sql`messages`, { text: 'text' });
