import type { EnvironmentVariables } from './environment.ts';

/** Shorter values are not looked for: they stand in too much text that has nothing to do with them. */
const MIN_LENGTH = 8;

/** Takes the values of variables out of text, plain, as JSON has it, percent-encoded or in base64. */
export type Redactor = {
  /** The text with `[env.NAME]` in place of each value. */
  redact(text: string): string;
  /** The same for text that comes in pieces, wherever they are cut. */
  stream(): RedactingStream;
};

export type RedactingStream = {
  /** What can be let go of; a piece that may be the beginning of a value is kept back. */
  push(piece: string): string;
  /** The rest. */
  end(): string;
};

export function createRedactor(variables: EnvironmentVariables): Redactor {
  const names = new Map<string, string>();
  for (const [name, value] of Object.entries(variables)) {
    if (value.length < MIN_LENGTH) continue;
    for (const form of formsOf(value)) if (form.length >= MIN_LENGTH) names.set(form, name);
  }
  const forms = [...names.keys()].sort((one, other) => other.length - one.length);
  const pattern = forms.length > 0 && new RegExp(forms.map(RegExp.escape).join('|'), 'g');
  const redact = (text: string) =>
    pattern ? text.replace(pattern, (form) => `[env.${names.get(form)}]`) : text;

  /** How much of a text's end may be the beginning of a value. */
  const openEnd = (text: string) => {
    for (let length = Math.min(text.length, (forms[0]?.length ?? 0) - 1); length > 0; length -= 1) {
      const end = text.slice(-length);
      if (forms.some((form) => form.length > length && form.startsWith(end))) return length;
    }
    return 0;
  };

  return {
    redact,
    stream() {
      let held = '';
      return {
        push(piece) {
          const text = redact(held + piece);
          const length = openEnd(text);
          held = text.slice(text.length - length);
          return text.slice(0, text.length - length);
        },
        end() {
          const rest = held;
          held = '';
          return rest;
        },
      };
    },
  };
}

/** The forms in which a value is known to leave. */
function formsOf(value: string): Set<string> {
  const percent = encodeURIComponent(value.toWellFormed());
  return new Set([
    value,
    JSON.stringify(value).slice(1, -1),
    percent,
    percent.replaceAll(/%../g, (code) => code.toLowerCase()),
    percent.replaceAll('%20', '+'),
    ...base64Forms(value),
  ]);
}

/**
 * The base64 of a value wherever it stands in what was encoded, such as after `user:`: at each of the three
 * offsets, without the characters at its ends that also depend on its neighbours. Both alphabets of RFC 4648.
 */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const start = Math.ceil((offset * 8) / 6);
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    const form = encoded.slice(start, end);
    return [form, form.replaceAll('+', '-').replaceAll('/', '_')];
  });
}
