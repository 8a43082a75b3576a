import { alignCalls } from '../vocabulary/aligned-calls.ts';
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
  return alignCalls(made, recorded).flatMap(({ call, other, isEqual }): CallChange[] => {
    if (isEqual) return [];
    if (!other)
      return call ? [{ change: 'ADDED', name: call.name, arguments: call.arguments }] : [];
    const { name, arguments: recordedArguments } = other;
    if (!call) return [{ change: 'MISSING', name, recordedArguments }];
    return [{ change: 'CHANGED', name, arguments: call.arguments, recordedArguments }];
  });
}
