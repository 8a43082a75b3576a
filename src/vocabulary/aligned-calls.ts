/** A tool call, with a digest that is equal for equal calls. */
type DigestedCall = { name: string; digest: string };

/** A call and the one of another run in its place. */
export type CallPair<Call> = {
  call?: Call | undefined;
  other?: Call | undefined;
  /** Whether tool and arguments are equal. */
  isEqual: boolean;
};

/**
 * Pairs the calls of two runs, in any order: equal calls first, then calls of the same tool. Pairs are in the order of the
 * calls; other calls without a counterpart follow.
 */
export function alignCalls<Call extends DigestedCall>(
  calls: readonly Call[],
  others: readonly Call[],
): CallPair<Call>[] {
  const left = [...others];
  const take = (isIt: (other: Call) => boolean) => {
    const place = left.findIndex(isIt);
    return place < 0 ? undefined : left.splice(place, 1)[0];
  };
  const equal = calls.map(({ digest }) => take((other) => other.digest === digest));
  const pairs = calls.map((call, at) => {
    const same = equal[at];
    const other = same ?? take(({ name }) => name === call.name);
    return { call, other, isEqual: same !== undefined };
  });
  return [...pairs, ...left.map((other) => ({ other, isEqual: false }))];
}
