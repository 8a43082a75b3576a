import { parse } from '@humanwhocodes/momoa';
import { isRecord } from '../../server/record.ts';

/** A text read as the `context` of a message: nothing, an object, or its problem. */
export type ContextReading = {
  value?: Record<string, unknown> | undefined;
  fault?: ContextFault | undefined;
};

/** A problem, with its place if the text is not JSON: line and column from 1, offset from 0. */
type ContextFault = {
  message: string;
  place?: { line: number; column: number; offset: number };
};

const NOT_AN_OBJECT = 'The context must be an object, such as {"plan": "pro"}.';

export function readContext(text: string): ContextReading {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? { value } : { fault: { message: NOT_AN_OBJECT } };
  } catch {
    return { fault: faultIn(text) };
  }
}

/** Browsers report errors with different texts and places, and some without a place, so a separate parser finds the place. */
function faultIn(text: string): ContextFault {
  try {
    parse(text, { mode: 'json' });
  } catch (error) {
    if (error instanceof Error && 'line' in error && 'column' in error && 'offset' in error) {
      const place = {
        line: Number(error.line),
        column: Number(error.column),
        offset: Number(error.offset),
      };
      return { message: error.message.replace(/ \(\d+:\d+\)$/, ''), place };
    }
  }
  return { message: 'The context is not valid JSON.' };
}
