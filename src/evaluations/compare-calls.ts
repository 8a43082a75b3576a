import type { CallChange, MadeCall } from './case-result.ts';

/** A call, with a digest that is equal for equal calls. */
type ComparedCall = Pick<MadeCall, 'name' | 'digest' | 'arguments'>;

/**
 * How calls differ from the recorded ones, in any order. A new call and a missing one of the same tool are one changed
 * call.
 */
export function compareCalls(
  made: readonly ComparedCall[],
  recorded: readonly ComparedCall[],
): CallChange[] {
  const added = without(made, recorded);
  const missing = without(recorded, made);
  const changes: CallChange[] = [];
  for (const call of added) {
    const { name, arguments: text } = call;
    const place = missing.findIndex((one) => one.name === name);
    const [earlier] = place < 0 ? [] : missing.splice(place, 1);
    changes.push(
      earlier
        ? { change: 'CHANGED', name, arguments: text, recordedArguments: earlier.arguments }
        : { change: 'ADDED', name, arguments: text },
    );
  }
  return [
    ...changes,
    ...missing.map(({ name, arguments: text }) => ({
      change: 'MISSING' as const,
      name,
      recordedArguments: text,
    })),
  ];
}

/** The calls that have no equal call among the others. Each of the others is equal to one call. */
function without(calls: readonly ComparedCall[], others: readonly ComparedCall[]): ComparedCall[] {
  const left = new Map<string, number>();
  for (const { digest } of others) left.set(digest, (left.get(digest) ?? 0) + 1);
  return calls.filter(({ digest }) => {
    const count = left.get(digest) ?? 0;
    left.set(digest, count - 1);
    return count <= 0;
  });
}
