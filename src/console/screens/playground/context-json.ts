import { isRecord } from '../../server/record.ts';
import { findJsonFault, type JsonFault } from './json-fault.ts';

/** A text read as the `context` of a message: nothing, an object, or its problem. */
export type ContextReading = {
  value?: Record<string, unknown> | undefined;
  fault?: ContextFault | undefined;
};

/** A problem, with its place if the text is not JSON. */
type ContextFault = { message: string; place?: JsonFault | undefined };

const NOT_AN_OBJECT = 'The context must be an object, such as {"plan": "pro"}.';

export function readContext(text: string): ContextReading {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? { value } : { fault: { message: NOT_AN_OBJECT } };
  } catch {
    const place = findJsonFault(text);
    return { fault: { message: place?.message ?? 'The context is not valid JSON.', place } };
  }
}
