import type { ShownRun } from './use-run.ts';
import type { ArrivedEvent } from './use-run-events.ts';

/**
 * The time of an event in milliseconds since the request. Stored events have none, so those of a finished run get the
 * times of the run and of the spans of its tool calls. Absent where nothing tells it.
 *
 * @param wasFollowed whether the event arrived while the run was active.
 */
export function eventTimes(
  run: ShownRun,
  wasFollowed: boolean,
): (arrived: ArrivedEvent) => number | undefined {
  const start = Date.parse(run.createdAt);
  const since = (time: string | null) => (time === null ? undefined : Date.parse(time) - start);
  const calls = new Map(
    run.trace.spans.flatMap(({ attributes, startedAt, durationMs }) => {
      const id = callIdOf(attributes);
      const from = Date.parse(startedAt) - start;
      return id ? [[id, { from, to: from + durationMs }] as const] : [];
    }),
  );
  return ({ event, at }) => {
    if (event.__typename === 'RunStarted') return since(run.startedAt);
    if (event.__typename === 'ToolStarted' && calls.has(event.callId))
      return calls.get(event.callId)?.from;
    if (event.__typename === 'ToolFinished' && calls.has(event.callId))
      return calls.get(event.callId)?.to;
    if ('latencyMs' in event) return event.latencyMs;
    return wasFollowed ? at - start : undefined;
  };
}

function callIdOf(attributes: unknown): string | undefined {
  if (typeof attributes !== 'object' || attributes === null) return undefined;
  const id: unknown = Reflect.get(attributes, 'gen_ai.tool.call.id');
  return typeof id === 'string' ? id : undefined;
}
