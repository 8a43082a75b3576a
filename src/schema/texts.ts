import { Prisma } from '../generated/prisma/client.ts';
import { longColumns } from './long-columns.ts';

export const RUN_TEXTS = longColumns(Prisma.sql`runs`, {
  input: 'input',
  response: 'response',
  metadata: 'metadata',
  trace: 'spans',
});

export const DEPLOYMENT_TEXTS = longColumns(Prisma.sql`deployments`, {
  source: 'source',
  diagnostics: 'diagnostics',
});

export const MESSAGE_TEXTS = longColumns(Prisma.sql`messages`, { text: 'text' });
