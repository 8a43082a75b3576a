import { alignCalls, type CallPair } from '../../../../vocabulary/aligned-calls.ts';
import type { Tool, Turn } from '../../../chat/turn.ts';
import { isRecord } from '../../../server/record.ts';

type DigestedTool = Tool & { digest: string };

/** The tool calls of both sides in shared rows. */
export function alignTools(left: Turn | undefined, right: Turn | undefined): CallPair<Tool>[] {
  return alignCalls(toolsOf(left), toolsOf(right));
}

function toolsOf(turn: Turn | undefined): DigestedTool[] {
  return (turn?.pieces ?? []).flatMap((piece) =>
    piece.type === 'tool'
      ? [{ ...piece, digest: `${piece.name} ${JSON.stringify(sorted(piece.input))}` }]
      : [],
  );
}

/** A JSON value with the members of its objects in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}

/** How two calls in a row differ, as a sign and words. */
export function differenceOf({ call, other, isEqual }: CallPair<Tool>): {
  sign: '=' | '≠';
  words: string;
} {
  if (!call) return { sign: '≠', words: 'only right' };
  if (!other) return { sign: '≠', words: 'only left' };
  const isWaiting = (tool: Tool) => tool.status === 'WAITING';
  const sameness = isEqual ? 'same call' : 'other arguments';
  if (isWaiting(call) !== isWaiting(other))
    return { sign: '≠', words: `${sameness}, not sent ${isWaiting(call) ? 'left' : 'right'}` };
  if (call.status !== other.status) return { sign: '≠', words: `${sameness}, other outcome` };
  if (!isEqual) return { sign: '≠', words: sameness };
  const isKnown = call.result !== undefined && other.result !== undefined;
  if (!isKnown) return { sign: '=', words: sameness };
  return call.result === other.result
    ? { sign: '=', words: 'same call, same answer' }
    : { sign: '≠', words: 'same call, other answer' };
}
