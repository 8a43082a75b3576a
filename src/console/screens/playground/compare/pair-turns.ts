import { diffArrays } from 'diff';
import type { Turn } from '../../../chat/turn.ts';

/** The turns of both sides that belong to one message. A turn of one side alone has no counterpart. */
export type TurnPair = { left?: Turn | undefined; right?: Turn | undefined };

/** Pairs the turns of two conversations by their messages or notices, in the order of both. */
export function pairTurns(left: readonly Turn[], right: readonly Turn[]): TurnPair[] {
  const changes = diffArrays(left.map(beginningOf), right.map(beginningOf));
  const pairs: TurnPair[] = [];
  let [one, other] = [0, 0];
  for (const { value, added, removed } of changes)
    for (let step = 0; step < value.length; step += 1)
      pairs.push({
        left: added ? undefined : left[one++],
        right: removed ? undefined : right[other++],
      });
  return pairs;
}

/** What a turn answers, with a mark that tells a notice from an equal message. */
function beginningOf({ message, notice }: Turn): string {
  return notice === undefined ? `message ${message}` : `notice ${notice}`;
}

/** The id of a pair, which stays the same while its replies arrive. */
export function idOf({ left, right }: TurnPair): string {
  return `${left?.id} ${right?.id}`;
}
