import { BOUNDS } from '../bounds.ts';
import type { EnvReference } from '../definition.ts';
import { stringValue } from '../strings.ts';
import type { Member } from '../syntax.ts';
import type { Template } from '../template.ts';
import type { ParsedTemplate } from '../template-parser.ts';
import type { Token } from '../token.ts';
import { type Check, envOf, stringsOf } from './values.ts';

/** The URL or `env.NAME` after a word. Templates are not allowed. */
export function addressOf(member: Member, check: Check): string | EnvReference | undefined {
  const [token] = stringsOf(member);
  if (!token) return envOf(member, check);
  const url = stringValue(token);
  if (url.includes('{{'))
    check.report(
      'invalid-url',
      token,
      'this URL takes no template, expected a plain URL or env.NAME',
    );
  else checkUrl({ template: [url], references: [], damaged: false }, token, check);
  return url;
}

/** Reports a URL that is invalid for all values of its templates. */
export function checkUrl(parsed: ParsedTemplate, token: Token, { report, isBlocked }: Check): void {
  if (parsed.damaged) return;
  const { length } = fill(parsed.template, '');
  if (length > BOUNDS.urlLength) {
    const message = `the URL has ${length} characters, expected at most ${BOUNDS.urlLength}`;
    report('invalid-url', token, message);
    return;
  }
  // A value may be letters or digits, so try both: `x` is an invalid port, and `1` an invalid end of a host name.
  const url = parseUrl(fill(parsed.template, 'x')) ?? parseUrl(fill(parsed.template, '1'));
  if (!url) {
    report('invalid-url', token, 'expected a URL such as "https://api.example.com/orders"');
    return;
  }
  if (url.username || url.password)
    report('invalid-url', token, 'a URL may not hold a user name or password');
  const inOrigin = originReferences(parsed);
  if (inOrigin.length === 0 && isBlocked?.(url)) report('private-host', token, PRIVATE_HOST);
  else if (url.protocol === 'http:' && !isLoopback(url))
    report('plain-http', token, 'plain http: can be read on its way, expected https:');
  for (const reference of inOrigin)
    if (reference.path[0] !== 'env')
      report('invalid-url', reference, 'only "env" is allowed before the path of a URL');
}

const PRIVATE_HOST =
  'a private or local address is not called, unless the operator lists its host:port in PARLEY_ALLOWED_HOSTS';

/** Whether a URL points to the server's machine. A request to it crosses no network. */
function isLoopback({ hostname }: URL): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

function fill(template: Template, value: string): string {
  return template.map((part) => (typeof part === 'string' ? part : value)).join('');
}

/** Stricter than browsers, which also accept `https:host` and `https:///host`. */
function parseUrl(text: string): URL | undefined {
  const isPlain = /^https?:\/\/[^/\\?#\s][^\s\\]*$/i.test(text);
  return (isPlain && URL.parse(text)) || undefined;
}

/** The references in the scheme, host or port, which determine the recipient of the request. */
function originReferences({ template, references }: ParsedTemplate) {
  const [origin] = /^https?:\/\/[^/?#]*/i.exec(fill(template, 'x')) ?? [''];
  let length = 0;
  const starts = template.flatMap((part) => {
    const start = length;
    length += typeof part === 'string' ? part.length : 1;
    return typeof part === 'string' ? [] : [start];
  });
  return references.filter((_reference, index) => (starts[index] ?? 0) < origin.length);
}
