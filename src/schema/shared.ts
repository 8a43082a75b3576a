import type { DeploymentDiagnostic } from '../deployments/diagnostics.ts';
import { builder } from './builder.ts';

export const EnvironmentEnum = builder.enumType('Environment', {
  description: 'Environment of a bot. Each environment has its own active deployment.',
  values: {
    PRODUCTION: { description: 'The environment for end users.' },
    STAGING: { description: 'The environment for tests.' },
  } as const,
});

export const ChannelEnum = builder.enumType('Channel', {
  description: 'Channel through which users reach a bot.',
  values: {
    API: { description: 'The REST and GraphQL APIs.' },
    WEB: { description: 'The hosted chat page.' },
    TELEGRAM: { description: 'A Telegram bot.' },
  } as const,
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

export const RunStatusEnum = builder.enumType('RunStatus', {
  description: 'Status of a run. COMPLETED, FAILED and CANCELLED are final.',
  values: {
    QUEUED: { description: 'Waiting for a worker.' },
    RUNNING: { description: 'A worker is executing the run.' },
    COMPLETED: { description: 'The run finished successfully.' },
    FAILED: { description: 'The run finished with an error.' },
    CANCELLED: { description: 'The run was cancelled. It keeps the text generated so far.' },
  } as const,
});

export const RunKindEnum = builder.enumType('RunKind', {
  description: 'Kind of a run.',
  values: {
    CHAT: { description: 'A turn of a conversation.' },
    EXECUTE: { description: 'A single prompt outside any conversation.' },
    DRAFT: { description: 'A chat with a definition that is not deployed.' },
  } as const,
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
