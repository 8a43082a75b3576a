/** The values of the filters of `parley runs`. */
export const STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
export const CHANNELS = ['api', 'web', 'telegram'] as const;
export const KINDS = ['chat', 'execute'] as const;

export type RunStatus = (typeof STATUSES)[number];

export type RunFilter = {
  user?: string | undefined;
  status?: RunStatus | undefined;
  channel?: (typeof CHANNELS)[number] | undefined;
  kind?: (typeof KINDS)[number] | undefined;
  environment?: 'production' | 'staging' | undefined;
  date?: string | undefined;
};
