import { useCallback, useState } from 'react';
import {
  type Environment,
  Running,
  type RunningQuery,
} from '../../generated/operations/console.ts';
import { useServerQuery } from '../server/operations.ts';
import type { Problem } from '../server/problem.ts';
import { useStore } from '../server/store.ts';
import { useScope } from '../server/viewer.ts';
import { madeHere } from './use-deploy.ts';
import { useDeploymentChanges } from './use-deployment-changes.ts';

type Bot = NonNullable<RunningQuery['bot']>;

/** The deployment that runs in an environment. Its source is absent without the scope DEPLOY. */
export type RunningDeployment = NonNullable<Bot['running']>;

export type RunningReading = {
  /** Absent while it is read. */
  bot: Bot | undefined;
  running: RunningDeployment | undefined;
  problem: Problem | undefined;
  /** Whether a deployment from elsewhere replaced the one that was shown first. */
  isReplaced: boolean;
  /** Accepts a deployment as known, so that it does not count as a replacement. */
  know(deploymentId: string | undefined): void;
  retry(): void;
};

/** Reads what runs in an environment of a bot, and again at each change. */
export function useRunning(botId: string, environment: Environment): RunningReading {
  // One query for each, because a query keeps its data while its variables change.
  const production = useRead(botId, 'PRODUCTION', environment);
  const staging = useRead(botId, 'STAGING', environment);
  const { data, problem, isLoading, retry } = environment === 'PRODUCTION' ? production : staging;
  useDeploymentChanges({ botId }, retry);

  const bot = data?.bot ?? undefined;
  const running = bot?.running ?? undefined;
  const [known, setKnown] = useState<ReadonlySet<string>>(new Set());
  const [opened, setOpened] = useState<ReadonlySet<Environment>>(new Set());
  const know = useCallback(
    (id: string | undefined) => setKnown((before) => new Set([...before, id ?? NOTHING])),
    [],
  );
  // The cache may have an older answer.
  if (bot && !isLoading && !opened.has(environment)) {
    setOpened(new Set([...opened, environment]));
    know(running?.id);
  }
  const own = useStore(madeHere);
  const shown = running?.id ?? NOTHING;
  const isReplaced =
    bot !== undefined && opened.has(environment) && !known.has(shown) && !own.has(shown);
  return { bot, running, problem, isReplaced, know, retry };
}

/** The id in place of a deployment where nothing runs. */
const NOTHING = '';

function useRead(botId: string, environment: Environment, shown: Environment) {
  const withSource = useScope('DEPLOY');
  const variables = { botId, environment, withSource };
  return useServerQuery(Running, variables, { pause: environment !== shown });
}
