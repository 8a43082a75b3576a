import type { Context } from '../context.ts';
import { connect } from '../server/connection.ts';

/** Cancels a run. A run that has ended stays as it is. */
export async function cancelRun(runId: string, context: Context): Promise<void> {
  const { parley, botOfRun } = await connect(context);
  const run = await parley.cancel(await botOfRun(runId), runId);
  await context.print(run, () =>
    run.status === 'cancelled'
      ? `The run ${runId} is cancelled.`
      : `The run ${runId} is ${run.status}. It ended before it could be cancelled.`,
  );
}
