import {
  Channel,
  DeploymentStatus,
  Environment,
  RunKind,
  RunStatus,
} from '../generated/prisma/client.ts';
import { builder } from './builder.ts';

/** What more than one part of the schema speaks of. */

export const EnvironmentEnum = builder.enumType(Environment, {
  name: 'Environment',
  description: "Which of a bot's running definitions is meant.",
});

export const ChannelEnum = builder.enumType(Channel, {
  name: 'Channel',
  description: 'Where a message came from, or where a deployment is reached.',
});

export const DeploymentStatusEnum = builder.enumType(DeploymentStatus, {
  name: 'DeploymentStatus',
  description: 'How an attempt to deploy ended. PENDING has not ended yet.',
});

export const RunStatusEnum = builder.enumType(RunStatus, {
  name: 'RunStatus',
  description: 'How far a run is. COMPLETED, FAILED and CANCELLED are final.',
});

export const RunKindEnum = builder.enumType(RunKind, {
  name: 'RunKind',
  description: 'A turn of a conversation, or a prompt without one.',
});

const SeverityEnum = builder.enumType('Severity', {
  description: 'Errors keep a definition from being deployed, warnings do not.',
  values: ['ERROR', 'WARNING'] as const,
});

export type DiagnosticShape = {
  severity: 'ERROR' | 'WARNING';
  code: string;
  message: string;
  line: number;
  column: number;
};

export const DiagnosticObject = builder.objectRef<DiagnosticShape>('Diagnostic').implement({
  description: 'One thing to be said of a definition, and where.',
  fields: (t) => ({
    severity: t.field({ type: SeverityEnum, resolve: ({ severity }) => severity }),
    code: t.exposeString('code', { description: 'Such as unknown-setting; a closed list.' }),
    message: t.exposeString('message'),
    line: t.exposeInt('line', { description: 'From 1.' }),
    column: t.exposeInt('column', { description: 'From 1, in UTF-16 code units.' }),
  }),
});
