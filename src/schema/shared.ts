import {
  Channel,
  DeploymentStatus,
  Environment,
  RunKind,
  RunStatus,
} from '../generated/prisma/client.ts';
import { builder } from './builder.ts';

export const EnvironmentEnum = builder.enumType(Environment, {
  name: 'Environment',
  description: 'Environment of a bot. Each environment has its own active deployment.',
});

export const ChannelEnum = builder.enumType(Channel, {
  name: 'Channel',
  description: 'Channel through which users reach a bot.',
});

export const DeploymentStatusEnum = builder.enumType(DeploymentStatus, {
  name: 'DeploymentStatus',
  description: 'Status of a deployment.',
});

export const RunStatusEnum = builder.enumType(RunStatus, {
  name: 'RunStatus',
  description: 'Status of a run. COMPLETED, FAILED and CANCELLED are final.',
});

export const RunKindEnum = builder.enumType(RunKind, {
  name: 'RunKind',
  description: 'Kind of a run.',
});

const SeverityEnum = builder.enumType('Severity', {
  description: 'Severity of a diagnostic.',
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
  description: 'A problem in a definition, with its position.',
  fields: (t) => ({
    severity: t.field({ type: SeverityEnum, resolve: ({ severity }) => severity }),
    code: t.exposeString('code', {
      description: 'Code from a closed list, such as `unknown-setting`.',
    }),
    message: t.exposeString('message'),
    line: t.exposeInt('line', { description: 'Line number, starting at 1.' }),
    column: t.exposeInt('column', {
      description: 'Column number in UTF-16 code units, starting at 1.',
    }),
  }),
});
