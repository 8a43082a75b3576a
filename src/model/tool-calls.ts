import { toStorable } from '../text/characters.ts';
import { isJsonObject, type JsonObject } from '../text/json.ts';
import { followJson, readArguments } from './arguments.ts';
import { collectExtra } from './extra.ts';
import type { AnswerBudget, ToolCall } from './model.ts';
import { TooLong } from './pieces.ts';
import { objectOrEmpty, textOrNone } from './wire.ts';

/** Tool calls of one answer. */
const MAX_CALLS = 128;
/** Characters kept of a call's arguments. Parts are appended whole, so a tool still sees that the limit is exceeded. */
const MAX_ARGUMENTS = 64 * 1024;
/** Characters kept of a call's name: twice what any server accepts. */
const MAX_NAME = 128;
/** Characters of a call id. Some servers put a signature of several KiB into the id. */
const MAX_ID = 16 * 1024;

type OpenCall = {
  id: string | undefined;
  name: string;
  arguments: string;
  json: ReturnType<typeof followJson>;
  extra: ReturnType<typeof collectExtra>;
};

/** A part of a tool call, as a server sent it. */
type Piece = {
  index: number | undefined;
  id: string | undefined;
  name: string;
  arguments: string;
  /** Whether the arguments are all arguments of the call. */
  isWhole: boolean;
  /** Whether the same list holds a part before this one. */
  isFurther: boolean;
};

/**
 * Assembles the tool calls of one answer from their parts. A part with an id that is new in the answer begins a call. So
 * does a part with a name after a call whose arguments are complete, unless it repeats that call's name and brings no
 * arguments. Every other part continues the call of its index, or else the last call.
 *
 * @throws TooLong for the 129th call, for an id over 16 Ki characters, and for an exceeded budget.
 */
export function collectCalls(budget: AnswerBudget) {
  const calls: OpenCall[] = [];
  const byIndex = new Map<number, OpenCall>();
  const ids = new Set<string>();

  const begin = (index: number | undefined): OpenCall => {
    if (calls.length === MAX_CALLS) {
      throw new TooLong(`The model's answer has more than ${MAX_CALLS} tool calls.`);
    }
    const json = followJson();
    const call = { id: undefined, name: '', arguments: '', json, extra: collectExtra() };
    calls.push(call);
    if (index !== undefined) byIndex.set(index, call);
    return call;
  };

  const begins = (piece: Piece, open: OpenCall, hasIndex: boolean): boolean => {
    const { id, name, index } = piece;
    const isComplete = open.json.isComplete();
    if (id !== undefined && !ids.has(id)) {
      // Some servers send a new id with each part of a call's arguments.
      if (hasIndex && name === '' && piece.arguments !== '' && !isComplete) return false;
      // Without an index, an id may follow the name.
      return index !== undefined || open.id !== undefined || name !== '';
    }
    // A call may begin with its id alone.
    if (name === '' || open.name === '') return false;
    // The first part of its index, or a further part without an index in one list.
    if (!hasIndex && (index !== undefined || piece.isFurther)) return true;
    return isComplete && (name !== open.name || piece.arguments !== '');
  };

  const callOf = (piece: Piece): OpenCall => {
    const { index } = piece;
    const ofIndex = index === undefined ? undefined : byIndex.get(index);
    const open = ofIndex ?? calls.at(-1);
    if (!open || begins(piece, open, ofIndex !== undefined)) return begin(index);
    if (index !== undefined && !ofIndex) byIndex.set(index, open);
    return open;
  };

  const append = (call: OpenCall, { id, name, arguments: text, isWhole }: Piece) => {
    budget.take(1, name.length + text.length);
    if (id !== undefined && !ids.has(id)) {
      budget.take(0, id.length);
      ids.add(id);
      call.id ??= id;
    }
    if (call.name.length <= MAX_NAME && !call.name.startsWith(name)) {
      call.name += name.slice(0, MAX_NAME);
    }
    if (isWhole) {
      call.arguments = '';
      call.json = followJson();
    }
    if (call.arguments.length > MAX_ARGUMENTS) return;
    call.arguments += text;
    call.json.push(text);
  };

  return {
    add(parts: readonly unknown[]) {
      let isFurther = false;
      for (const part of parts) {
        if (!isJsonObject(part)) continue;
        const piece = readPiece(part, isFurther);
        isFurther = true;
        const call = callOf(piece);
        append(call, piece);
        budget.take(0, call.extra.add(part));
      }
    },

    /** The calls in the order of their first parts. No two have the same id. */
    all(): ToolCall[] {
      let count = 0;
      const makeId = () => {
        while (ids.has(`call_${count}`)) count += 1;
        ids.add(`call_${count}`);
        return `call_${count}`;
      };
      return calls.map((call) => ({
        id: call.id ?? makeId(),
        name: toStorable(call.name),
        arguments: toStorable(finalArguments(call.arguments)),
        extra: call.extra.text(),
      }));
    },
  };
}

function readPiece(part: JsonObject, isFurther: boolean): Piece {
  const { index, id: given } = part;
  const { name, arguments: text } = objectOrEmpty(part.function);
  const id = typeof given === 'number' ? String(given) : textOrNone(given);
  if (id !== undefined && id.length > MAX_ID) throw new TooLong();
  return {
    index: typeof index === 'number' ? index : undefined,
    id: id === undefined || id === '' ? undefined : toStorable(id),
    name: textOrNone(name) ?? '',
    arguments: isJsonObject(text) ? JSON.stringify(text) : (textOrNone(text) ?? ''),
    isWhole: isJsonObject(text),
    isFurther,
  };
}

/** Text that is no JSON object stays, for the tool's error. */
function finalArguments(text: string): string {
  return text.length > MAX_ARGUMENTS ? text : (readArguments(text) ?? text);
}
