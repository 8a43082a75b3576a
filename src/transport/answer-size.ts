import { type ExecutionResult, GraphQLError } from 'graphql';
import { GatewayError } from '../errors/errors.ts';
import { MAX_ANSWER_BYTES } from '../schema/admission/weight.ts';

/** The braces and names of an error, with its code and a place in the document. */
const ERROR = 200;

/**
 * Counts the bytes of JSON of a result before any of them is written, for every transport: the answer to an operation,
 * and each event of a subscription.
 *
 * @returns the result; in place of one of more than 16 MiB, the error `request_too_large` alone.
 */
export function limitAnswer(result: ExecutionResult): ExecutionResult {
  return measureAnswer(result).result;
}

/**
 * Limits a result as `limitAnswer` does. An error that several fields share is kept once.
 *
 * @returns also its bytes: exactly, or six for each UTF-16 unit of its texts.
 */
export function measureAnswer(answer: ExecutionResult): { result: ExecutionResult; bytes: number } {
  const { errors } = answer;
  const result = errors && errors.length > 1 ? { ...answer, errors: [...new Set(errors)] } : answer;
  // The bounds suffice for almost every result.
  const most = sizeOf(result, BOUNDS);
  if (most <= MAX_ANSWER_BYTES) return { result, bytes: most };
  const bytes = sizeOf(result, EXACT);
  if (bytes <= MAX_ANSWER_BYTES) return { result, bytes };
  return { result: tooLarge(), bytes };
}

function tooLarge(): ExecutionResult {
  const mebibytes = MAX_ANSWER_BYTES / 1024 / 1024;
  const originalError = new GatewayError(
    'request_too_large',
    `The answer is larger than ${mebibytes} MiB. Request fewer entries or fewer fields. A mutation has taken effect.`,
  );
  return { data: null, errors: [new GraphQLError(originalError.message, { originalError })] };
}

/** Bytes of JSON of values: of texts, and of numbers, dates, booleans and null. */
type Sizes = { text(text: string): number; short(value: unknown): number };

/** Bounds that cost next to nothing. */
const BOUNDS: Sizes = { text: (text) => 6 * text.length + 2, short: () => 30 };

const EXACT: Sizes = { text: textSize, short: (value) => JSON.stringify(value)?.length ?? 0 };

/** Bytes of the JSON of a text, without writing it: a result may have hundreds of texts of a mebibyte. */
function textSize(text: string): number {
  let bytes = text.length + 2;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 128) bytes += ESCAPES[unit] ?? 0;
    else if (unit < 0x800) bytes += 1;
    else if (unit < 0xd800 || unit > 0xdfff) bytes += 2;
    else if (unit < 0xdc00 && isLow(text.charCodeAt(index + 1))) {
      // The two units of a pair take 4 bytes.
      bytes += 2;
      index += 1;
    }
    // Half a pair becomes `\ud800`.
    else bytes += 5;
  }
  return bytes;
}

/** The bytes that an ASCII character takes in JSON beyond its own. */
const ESCAPES = Uint8Array.from(
  { length: 128 },
  (_, unit) => JSON.stringify(String.fromCharCode(unit)).length - 3,
);

const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff;

/** Bytes of JSON of a result. The count ends soon after the limit. */
function sizeOf(
  { data, errors = [], extensions }: ExecutionResult,
  { text, short }: Sizes,
): number {
  let bytes = 0;
  const add = (value: unknown): void => {
    if (typeof value === 'string') bytes += text(value);
    else if (typeof value !== 'object' || value === null || value instanceof Date)
      bytes += short(value);
    else if (Array.isArray(value)) {
      bytes += 2 + value.length;
      for (const one of value) {
        if (bytes > MAX_ANSWER_BYTES) return;
        add(one);
      }
    } else {
      bytes += 2;
      for (const name in value) {
        if (bytes > MAX_ANSWER_BYTES) return;
        bytes += text(name) + 2;
        add((value as Record<string, unknown>)[name]);
      }
    }
  };
  add(data);
  if (extensions) add(extensions);
  for (const { message, path, originalError } of errors) {
    if (bytes > MAX_ANSWER_BYTES) break;
    bytes += ERROR;
    add(message);
    add(path);
    if (originalError instanceof GatewayError)
      add([originalError.details, originalError.diagnostics]);
  }
  return bytes;
}
