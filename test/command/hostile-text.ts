import { type Site, startSite } from '../helpers/site.ts';

/** Sets the title and the clipboard, colours, clears, moves and reorders what a terminal shows; some of it is invisible. */
export const HOSTILE =
  '\x1b]0;title\x07\x1b]52;c;cHduZWQ=\x07\x1b[95;7m\x1bPq\x1b\\\x9b2J\x9d0;x\x9c\x90' +
  '\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069\u200E\u200F\u061C' +
  '\u200B\u200C\u200D\u2060\uFEFF\u00AD\u2028\u2029\u{E0041}\x7f\x08\x85\r';

/** Every character that no output of the command may contain. */
export const HIDDEN =
  /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]--[\t\n\u200C\u200D\uFE0E\uFE0F\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]]/v;

/** Which strings of the answers are hostile: all of them, or those that do not steer the command. */
export type Spoils = 'every string' | 'texts';

/** Members that the command needs to go on with the next request. */
const STEERING = new Set(
  '__typename id run_id runId bot_id botId deployment_id status environment severity next_cursor endCursor'.split(
    ' ',
  ),
);

/** A server that forwards each request to another one, and puts hostile text into the strings of its answers. */
export async function startHostileServer(target: string): Promise<
  Omit<Site, 'handle'> & {
    spoil(what: Spoils): void;
    /** Refuses all later requests with a hostile error. */
    refuse(status: number, code: string): void;
  }
> {
  const site = await startSite();
  let spoils: Spoils = 'texts';
  const spoiled = (value: unknown, name = ''): unknown => {
    if (typeof value === 'string')
      return spoils === 'texts' && STEERING.has(name) ? value : `${value}${HOSTILE}`;
    if (Array.isArray(value)) return value.map((entry) => spoiled(entry, name));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => [key, spoiled(member, key)]),
    );
  };
  const spoiledJson = (json: string) => JSON.stringify(spoiled(JSON.parse(json)));
  const forward: Parameters<Site['handle']>[0] = async (request, response) => {
    const { method, url, body } = request;
    const { host, connection, 'content-length': length, ...headers } = request.headers;
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: headers as Record<string, string>,
      ...(body !== '' && { body }),
    });
    const type = answer.headers.get('content-type') ?? '';
    // A header cannot hold more than Latin-1, which has the controls of one byte.
    response.writeHead(answer.status, { 'content-type': type, 'x-request-id': 'request\x9b2J' });
    if (!type.startsWith('text/event-stream')) {
      const text = await answer.text();
      response.end(text && spoiledJson(text));
      return;
    }
    let rest = '';
    for await (const piece of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
      const lines = (rest + new TextDecoder().decode(piece)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [, data] = /^data: ?(\{.*)$/.exec(line) ?? [];
        response.write(`${data ? `data: ${spoiledJson(data)}` : line}\n`);
      }
    }
    response.end();
  };
  site.handle(forward);
  return {
    ...site,
    spoil(what) {
      spoils = what;
      site.handle(forward);
    },
    refuse(status, code) {
      const message = `Refused ${HOSTILE}`;
      const details = [{ path: `name${HOSTILE}`, message }];
      site.handle(({ url }, response) => {
        response.writeHead(url.startsWith('/graphql') ? 200 : status, {
          'content-type': 'application/json',
          'x-request-id': 'request\x9b2J',
          'retry-after': '1\x9b2J',
        });
        const extensions = { code: code.toUpperCase(), details };
        const error = { code, message, details, run_id: `run${HOSTILE}` };
        response.end(JSON.stringify({ error, errors: [{ message, extensions }] }));
      });
    },
  };
}
