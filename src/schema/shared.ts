import type { DeploymentDiagnostic } from '../deployments/diagnostics.ts';
import { CHANNELS } from '../vocabulary/channels.ts';
import { ENTRANCES } from '../vocabulary/entrances.ts';
import { ENVIRONMENTS } from '../vocabulary/environments.ts';
import { RUN_KINDS, RUN_STATUSES, RUN_TRIGGERS } from '../vocabulary/runs.ts';
import { builder } from './builder.ts';

export const EnvironmentEnum = builder.enumType('Environment', {
  description: 'Environment of a bot. Each environment has its own active deployment.',
  values: ENVIRONMENTS,
});

export const ChannelEnum = builder.enumType('Channel', {
  description: 'Channel through which users reach a bot.',
  values: CHANNELS,
});

export const EntranceEnum = builder.enumType('Entrance', {
  description: 'Interface through which a client requests runs.',
  values: ENTRANCES,
});

export const DeploymentStatusEnum = builder.enumType('DeploymentStatus', {
  description: 'Status of a deployment.',
  values: {
    PENDING: { description: 'A channel is still being connected.' },
    DEPLOYED: { description: 'The deployment succeeded.' },
    FAILED: {
      description: 'The deployment failed and changed nothing. Its diagnostics explain why.',
    },
  } as const,
});

export const RunTriggerEnum = builder.enumType('RunTrigger', {
  description: 'What began a run.',
  values: RUN_TRIGGERS,
});

export const RunStatusEnum = builder.enumType('RunStatus', {
  description: 'Status of a run. COMPLETED, FAILED and CANCELLED are final.',
  values: RUN_STATUSES,
});

export const RunKindEnum = builder.enumType('RunKind', {
  description: 'Kind of a run.',
  values: RUN_KINDS,
});

const SeverityEnum = builder.enumType('Severity', {
  description: 'Severity of a diagnostic.',
  values: {
    ERROR: { description: 'Prevents deployment.' },
    WARNING: { description: 'Does not prevent deployment, but points to a probable mistake.' },
  } as const,
});

export const DiagnosticObject = builder.objectRef<DeploymentDiagnostic>('Diagnostic').implement({
  description: 'A problem in a definition, with its position.',
  fields: (t) => ({
    severity: t.field({
      type: SeverityEnum,
      description: 'Whether the diagnostic prevents deployment.',
      resolve: ({ severity }) => severity,
    }),
    code: t.exposeString('code', {
      description: 'Code from a closed list, such as `unknown-setting`.',
    }),
    message: t.exposeString('message', { description: 'Human-readable explanation.' }),
    line: t.exposeInt('line', { description: 'Line number, starting at 1.' }),
    column: t.exposeInt('column', {
      description: 'Column number in UTF-16 code units, starting at 1.',
    }),
    endLine: t.exposeInt('endLine', { description: 'Line number of the end, starting at 1.' }),
    endColumn: t.exposeInt('endColumn', {
      description:
        'Column number of the first character after the problem. Equals the start for missing text.',
    }),
  }),
});
