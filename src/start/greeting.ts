import { toPrintable } from '../text/characters.ts';
import type { FirstKey } from './first-key.ts';
import { DEMO_BOT_ID } from './seed.ts';

/** The facts of a start that its greeting shows. */
export type Start = {
  /** The address that Parley listens on. */
  address: string;
  /** `PUBLIC_URL`: where clients reach it; none: `address`. */
  publicUrl: string | undefined;
  metricsAddress: string | undefined;
  /** The default model; none: the offline model. */
  model: string | undefined;
  key: FirstKey;
  /** The code of the sign-in link, if this start set up the database. */
  code: string | null;
};

/**
 * The first steps, for the terminal. It shows an API key only on the terminal of the start that generated it, and a
 * sign-in link only if this start set up the database. The line with curl works in a shell as it is.
 */
export function greeting({ address, publicUrl, metricsAddress, model, key, code }: Start): string {
  const url = publicUrl ?? address;
  const metrics = metricsAddress ? `\n  Metrics:     ${metricsAddress}` : '';
  const chat = shellWord(`${url}/v1/bots/${DEMO_BOT_ID}/chat`);
  return toPrintable(`
  Parley is listening on ${address}
  Model:       ${model ?? 'offline (set OPENAI_API_KEY to use a real model)'}
  Console:     ${code ? `${url}/sign-in#code=${code}   (signs in once, within 15 minutes)` : url}
  GraphiQL:    ${url}/graphql
  Reference:   ${url}/docs${metrics}
  API key:     ${placeOf(key)}
  Try:         curl ${chat} -H "Authorization: Bearer ${shellKey(key)}" -H "Content-Type: application/json" -H "X-Session-ID: user-1" -d '{"message": "Hello!"}'
`);
}

function placeOf(key: FirstKey): string {
  switch (key.where) {
    case 'terminal':
      return `${key.key}   (shown only once; store it now)`;
    case 'file':
      return `in ${key.path}   (only you can read it; store the key, then delete the file)`;
    case 'settings':
      return 'the value of PARLEY_BOOTSTRAP_KEY';
    case 'elsewhere':
      return 'created by the first start   (if it is lost: parley key reset-operator)';
  }
}

/** The key inside a shell's double quotes. */
function shellKey(key: FirstKey): string {
  switch (key.where) {
    case 'terminal':
      return key.key;
    case 'file':
      return `$(cat ${shellWord(key.path)})`;
    case 'settings':
    case 'elsewhere':
      return '$PARLEY_API_KEY';
  }
}

/** A text as one word of a shell, in single quotes if it has special characters. */
function shellWord(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
