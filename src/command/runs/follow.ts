import { startDeadline } from '../../client/deadline.ts';
import { ConnectionError } from '../../client/index.ts';
import { waitToRetry } from '../../client/retry.ts';
import { readStream } from '../../client/stream-reader.ts';
import { FollowRuns, type FollowRunsSubscription } from '../../generated/operations/command.ts';
import { toLowerCase, toUpperCase } from '../../vocabulary/names.ts';
import type { Context } from '../context.ts';
import { connect } from '../server/connection.ts';
import type { RunFilter } from './filters.ts';
import type { ListOptions } from './list.ts';
import { type ListedRun, runLine } from './run-table.ts';

/** Runs that are remembered, to print each state of a run once. */
const MAX_REMEMBERED = 10_000;

/** Reconnections in a row without a new run. */
const MAX_FAILURES = 20;

/** Prints the latest runs, then each run when it is queued, starts and ends, until Ctrl-C. */
export async function followRuns(
  { bot, filter, limit }: ListOptions,
  context: Context,
): Promise<void> {
  const { terminal, emit, signal } = context;
  const { parley, graphql, botId, forBot } = await connect(context);
  const id = botId(bot);
  const printed = new Map<string, string>();
  const show = async (run: ListedRun) => {
    if (printed.get(run.runId) === run.status) return;
    printed.delete(run.runId);
    printed.set(run.runId, run.status);
    const [oldest] = printed.keys();
    if (printed.size > MAX_REMEMBERED && oldest !== undefined) printed.delete(oldest);
    await emit(run, () => `${runLine(run, terminal)}\n`);
  };
  const catchUp = async () => {
    const { data } = await parley.runs(id, { ...filter, limit: Math.min(limit, 100) }).page();
    for (const run of data.reverse()) await show(listed(run));
  };
  const deadline = startDeadline(Number.POSITIVE_INFINITY, [signal]);
  const source = {
    signal,
    async open() {
      const changes = await graphql.subscribe(
        FollowRuns,
        { botId: id, filter: graphqlFilter(filter) },
        signal,
      );
      // Runs that changed before the subscription began.
      await catchUp();
      return changes;
    },
    async recover(error: unknown, failures: number) {
      if (error instanceof ConnectionError) terminal.note('The connection was lost. Reconnecting…');
      await waitToRetry(error, failures, MAX_FAILURES, deadline);
    },
  };
  await forBot(id, catchUp);
  terminal.progress('Following. Press Ctrl-C to stop.');
  for await (const { run } of readStream(source)) await show(fromGraphQL(run));
}

function listed({
  runId,
  status,
  kind,
  channel,
  entrance,
  sessionId,
  input,
  createdAt,
  latencyMs,
  tokensUsed,
}: ListedRun): ListedRun {
  const facts = { runId, status, kind, channel, entrance, sessionId, input, createdAt };
  return { ...facts, latencyMs, tokensUsed };
}

function fromGraphQL({ id, entrance, ...rest }: FollowRunsSubscription['run']) {
  const { status, kind, channel } = rest;
  return listed({
    ...rest,
    runId: id,
    status: toLowerCase(status),
    kind: toLowerCase(kind),
    channel: toLowerCase(channel),
    entrance: entrance && toLowerCase(entrance),
  });
}

function graphqlFilter(filter: RunFilter) {
  const { user, status, channel, entrance, kind, environment, date } = filter;
  return {
    ...(user !== undefined && { user }),
    ...(date !== undefined && { date }),
    ...(status && { status: [toUpperCase(status)] }),
    ...(channel && { channel: [toUpperCase(channel)] }),
    ...(entrance && { entrance: [toUpperCase(entrance)] }),
    ...(kind && { kind: toUpperCase(kind) }),
    ...(environment && { environment: toUpperCase(environment) }),
  };
}
