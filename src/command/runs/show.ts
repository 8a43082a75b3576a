import type { Context } from '../context.ts';
import { connect } from '../server/connection.ts';
import { facts } from '../terminal/facts.ts';
import { duration, localTime } from '../terminal/units.ts';
import { paintStatus } from './run-table.ts';
import { tokens } from './tokens.ts';
import { toolCallsText } from './tool-calls.ts';

/** Shows one run with its texts. */
export async function showRun(runId: string, context: Context): Promise<void> {
  const { terminal, print } = context;
  const { parley, botOfRun } = await connect(context);
  const run = await parley.run(await botOfRun(runId), runId);
  const { style } = terminal;
  await print(run, () => {
    const rows: [string, string][] = [
      ['Run', run.runId],
      ['Bot', `${run.botId} (${run.environment})`],
      ['Status', paintStatus(run.status, style)],
      ['Kind', `${run.kind}, by ${run.entrance ?? run.channel}`],
      ['User', run.sessionId ?? '-'],
      ['Model', run.model ?? '-'],
      ['Created', localTime(run.createdAt)],
      ['Latency', duration(run.latencyMs) || '-'],
      ['Tokens', tokens(run)],
      ['Finish', run.finishReason ?? '-'],
      ['Tools', run.toolsCalled.join(', ') || '-'],
      ['Deployment', run.deploymentId ?? '-'],
    ];
    const error = run.error
      ? [`${style.red('Error')}  ${run.error.message} [${run.error.code}]`]
      : [];
    const calls = toolCallsText(run.toolCalls, style);
    return [
      facts(rows, style),
      ...error,
      `${style.bold('Input')}\n${run.input}`,
      ...(calls === undefined ? [] : [calls]),
      ...(run.response === null ? [] : [`${style.bold('Response')}\n${run.response}`]),
    ].join('\n\n');
  });
}
