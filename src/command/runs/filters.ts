import type { Run } from '../../client/index.ts';

/** The filters of `parley runs`. */
export type RunFilter = {
  user?: string | undefined;
  status?: Run['status'] | undefined;
  channel?: Run['channel'] | undefined;
  entrance?: Exclude<Run['entrance'], null> | undefined;
  kind?: Exclude<Run['kind'], 'draft'> | undefined;
  environment?: Run['environment'] | undefined;
  date?: string | undefined;
};
