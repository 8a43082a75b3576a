import Fastify, { type FastifyRequest } from 'fastify';
import { describe, expect, test } from 'vitest';
import { networkOf } from '../../src/accounts/client-network.ts';
import type { Keys } from '../../src/accounts/keys.ts';
import { GatewayError } from '../../src/errors/errors.ts';
import { traceIdOf } from '../../src/runs/trace/trace.ts';
import { readDocument } from '../../src/schema/admission/document.ts';
import { assertShortLists } from '../../src/schema/admission/variables.ts';
import { assertReadable } from '../../src/schema/admission/weight.ts';
import { schema } from '../../src/schema/index.ts';
import { redactSecrets } from '../../src/text/secret-redaction.ts';
import { createAuthenticate } from '../../src/transport/authenticate.ts';
import { readCookie } from '../../src/transport/console-cookie.ts';
import { createFrameReader } from '../../src/transport/graphql/websocket-frames.ts';
import { meantBy } from '../../src/transport/mistaken-address.ts';
import { hasOwnOrigin } from '../../src/transport/own-page.ts';
import { eventsHeaders } from '../../src/transport/rest/run-query.ts';
import { expectLinear, repeatTo } from '../helpers/growth.ts';
import { frame, headerOfLongFrame } from '../helpers/raw-websocket.ts';

const requestWith = (headers: FastifyRequest['headers']) =>
  ({
    headers,
    protocol: 'http',
    host: 'localhost',
    server: { publicOrigin: undefined },
  }) as unknown as FastifyRequest;

const refuse = async () => {
  throw new GatewayError('invalid_api_key', 'Unknown.');
};
const authenticate = createAuthenticate({
  keys: { verify: refuse } as unknown as Keys,
  sessionTokens: { verify: refuse, issue: refuse, issueToVisitor: refuse },
  consoleSessions: { verify: refuse },
  limits: { originOf: () => ({ address: '', isSpent: false, isSpentFor: () => false }) },
});

const proxied = Fastify({ trustProxy: true });
proxied.get('/', async ({ ip, ips, protocol, host }) => ({ ip, ips, protocol, host }));
const throughProxy = (name: string) => (value: string) =>
  proxied.inject({ url: '/', headers: { [name]: value } });

const HEADERS: [what: string, read: (value: string) => unknown][] = [
  ['Authorization', (value) => authenticate(value, undefined)],
  ['Authorization with a scheme', (value) => authenticate(`Bearer ${value}`, undefined)],
  ['Cookie', (cookie) => readCookie(requestWith({ cookie }))],
  ['Cookie of the name', (value) => readCookie(requestWith({ cookie: `parley_session=${value}` }))],
  ['Origin', (origin) => hasOwnOrigin(requestWith({ origin }))],
  ['X-Forwarded-For', throughProxy('x-forwarded-for')],
  ['X-Forwarded-Host', throughProxy('x-forwarded-host')],
  ['X-Forwarded-Proto', throughProxy('x-forwarded-proto')],
  ['an address that a proxy reports', networkOf],
  ['traceparent', (value) => traceIdOf(`00-${value}`)],
  ['Last-Event-ID', (value) => eventsHeaders.safeParse({ 'last-event-id': value })],
  ['a logged path', redactSecrets],
  ['a mistaken address', (value) => meantBy(`/${value}`)],
];
const PARTS = [' ', ',', ', ', ';', '=', 'a=b;', 'parley_session=a;', ':', '::', '[', '1', '1.'];
const PATH_PARTS = ['/', '/v1', '/chat/completions', '/completions'];
const SECRET_PARTS = ['-', '%', '%25', 'Bearer ', 'eyJ', 'a.', 'parley_sk_', '%70', '"', '\\'];

describe.each(HEADERS)('the header %s is read in linear time', (_what, read) => {
  test.each([...PARTS, ...PATH_PARTS, ...SECRET_PARTS])('with repeated %j', (part) =>
    expectLinear((size) => {
      const value = `${repeatTo(part, size)}x`;
      return () => read(value);
    }, 8_000),
  );
});

const FRAMES: [what: string, bytes: (size: number) => Buffer][] = [
  ['many empty frames', (size) => Buffer.alloc(size).fill(frame(''))],
  ['many small frames', (size) => Buffer.alloc(size).fill(frame('a'))],
  ['many parts of a message', (size) => Buffer.alloc(size).fill(frame('a', { isFinal: false }))],
  ['one long frame', (size) => Buffer.concat([headerOfLongFrame(size), Buffer.alloc(size)])],
];

test.each(FRAMES)('%s of a WebSocket are followed in linear time', (_what, bytes) =>
  expectLinear((size) => {
    const sent = bytes(size);
    return () => {
      const read = createFrameReader();
      for (let at = 0; at < sent.length; at += 3) read(sent.subarray(at, at + 3));
    };
  }, 100_000),
);

const DOCUMENT_PARTS = [
  '#',
  '#\n',
  '\n',
  '\r\n',
  ',',
  '\ufeff',
  '"a"',
  '"""',
  '\\"',
  '{',
  '[[',
  '(',
];
const SELECTIONS = ['a ', 'a:viewer ', 'viewer{id}', '...F ', '@a ', '$a:Int ', '__typename '];

describe('a document of GraphQL is read in linear time', () => {
  const read = (source: string, variables = {}) => {
    const { document } = readDocument(schema, source);
    if (!document) return;
    assertShortLists(schema, document, undefined, variables);
    assertReadable(schema, document, undefined, variables);
  };

  test.each([
    ...DOCUMENT_PARTS.map((part): [string, (size: number) => string] => [
      part,
      (size) => repeatTo(part, size),
    ]),
    ...SELECTIONS.map((part): [string, (size: number) => string] => [
      part,
      (size) => `{ ${repeatTo(part, size)} }`,
    ]),
  ])('with repeated %j', (_part, make) =>
    expectLinear((size) => {
      const source = make(size);
      return () => read(source);
    }, 50_000),
  );

  test('with fragments that each spread the next one twice', () =>
    expectLinear((size) => {
      const fragments = Array.from(
        { length: size },
        (_, at) => `fragment F${at} on Query { a${at}: __typename ...F${at + 1} ...F${at + 1} }`,
      );
      const source = `{ ...F0 } ${fragments.join(' ')} fragment F${size} on Query { __typename }`;
      return () => {
        try {
          read(source);
        } catch (error) {
          expect(error).toHaveProperty('code');
        }
      };
    }, 11));

  test('with variables of many entries', () =>
    expectLinear((size) => {
      const ids = Array.from({ length: size }, () => 'a');
      return () =>
        expect(() =>
          read('query Read($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids }),
        ).toThrow();
    }, 20_000));
});
