import type { Context } from '../context.ts';
import { connect } from '../server/connection.ts';
import { duration } from '../terminal/units.ts';
import { paintStatus } from './run-table.ts';
import { tokens } from './tokens.ts';
import { toolCallsText } from './tool-calls.ts';
import { waterfall } from './waterfall.ts';

/** Draws the trace of a run. */
export async function showTrace(runId: string, context: Context): Promise<void> {
  const { terminal, print } = context;
  const { style, width } = terminal;
  const { parley, botOfRun } = await connect(context);
  const run = await parley.run(await botOfRun(runId), runId);
  const { trace, status, latencyMs, model, finishReason, error } = run;
  await print(trace, () => {
    const facts = [
      style.bold(runId),
      paintStatus(status, style),
      duration(latencyMs),
      model ?? '',
      `${tokens(run)} tokens`,
      finishReason && `ended by ${finishReason}`,
    ];
    const failure = error ? `\n${style.red('Error')}  ${error.message} [${error.code}]` : '';
    const title = facts.filter(Boolean).join('  ') + failure;
    if (trace.spans.length === 0)
      return `${title}\nThe trace has no spans yet. They are stored when the run ends.`;
    const calls = toolCallsText(run.toolCalls, style);
    const drawn = `${title}\n${waterfall(trace.spans, { style, width })}`;
    return calls === undefined ? drawn : `${drawn}\n\n${calls}`;
  });
}
