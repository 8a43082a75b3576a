import { CodeBlock } from '../../parts/copy.tsx';
import { isRecord } from '../../server/record.ts';
import type { ShownRun } from './use-run.ts';

/** The context of the request, or why it is missing. */
export function RunContext({ run }: { run: ShownRun }) {
  const { context } = run;
  if (isRecord(context))
    return (
      <section className="run-text" aria-label="Context">
        <header>
          <h2>Context</h2>
        </header>
        <CodeBlock label="Context of the request">{JSON.stringify(context, null, 2)}</CodeBlock>
      </section>
    );
  const keys = contextKeysOf(run);
  if (keys === 0) return null;
  return (
    <p className="faint run-note">
      The request had a context of {keys === 1 ? 'one key' : `${keys} keys`}, which is no longer
      stored. “Ask again” sends the message without it.
    </p>
  );
}

/** The number of keys of the context, as the trace counted them. */
function contextKeysOf({ trace }: ShownRun): number {
  const counts = trace.spans.map(({ attributes }) =>
    isRecord(attributes) ? attributes['parley.context.keys'] : undefined,
  );
  return counts.find((count) => typeof count === 'number') ?? 0;
}
