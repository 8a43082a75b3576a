import type { Command } from '../line/definition.ts';
import { ACCOUNT } from './account.ts';
import { APPROVALS } from './approvals.ts';
import { CONVERSATIONS } from './conversations.ts';
import { DEFINITIONS } from './definitions.ts';
import { DEPLOYMENTS } from './deployments.ts';
import { GATE } from './gate.ts';
import { RUNS } from './runs.ts';
import { SERVER } from './server.ts';
import { shell } from './shell.ts';

const OTHERS: readonly Command[] = [
  ...SERVER,
  ...ACCOUNT,
  ...DEFINITIONS,
  ...DEPLOYMENTS,
  ...GATE,
  ...CONVERSATIONS,
  ...RUNS,
  ...APPROVALS,
];

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [...OTHERS, ...shell(OTHERS)];
