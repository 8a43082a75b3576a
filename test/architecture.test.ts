import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = new URL('..', import.meta.url).pathname;
const SRC = join(ROOT, 'src');

/** The domains, left to right: each may import those before it. */
const DOMAINS = [
  'language',
  'accounts',
  'bots',
  'deployments',
  'sessions',
  'runs',
  'agent',
  'channels',
];

/** What every part may use, and what uses nothing of Parley but each other. */
const FOUNDATIONS = [
  'error-log.ts',
  'errors.ts',
  'graphql-message.ts',
  'ids.ts',
  'input.ts',
  'json.ts',
  'log.ts',
  'outage.ts',
  'text.ts',
  'version.ts',
  'generated',
];
const ROOMS = [...DOMAINS, 'transport', 'schema', 'operations', 'model', 'storage'];
const COMPOSITION = ['server.ts', 'app.ts', 'domains.ts', 'config.ts'];

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.startsWith('generated/'))
  .sort();

const source = (file: string) => readFileSync(join(SRC, file), 'utf8');

/** The files of `src/` that a file imports, types too. */
function importsOf(file: string): string[] {
  const specifiers = source(file).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+\.ts)'/g);
  return [...specifiers].map(([, specifier = '']) =>
    relative(SRC, join(SRC, dirname(file), specifier)),
  );
}

const roomOf = (file: string) => file.split('/')[0] ?? file;
const edges = files.flatMap((from) => importsOf(from).map((to) => ({ from, to })));
const offences = (forbidden: (edge: { from: string; to: string }) => boolean) =>
  edges.filter(forbidden).map(({ from, to }) => `${from} imports ${to}`);

describe('the architecture', () => {
  test('has no rooms and no files at the top but the known ones', () => {
    const known = [...FOUNDATIONS, ...ROOMS, ...COMPOSITION];
    expect(files.map(roomOf).filter((room) => !known.includes(room))).toEqual([]);
  });

  test('lets a domain import only the domains to its left', () => {
    const place = (file: string) => DOMAINS.indexOf(roomOf(file));
    expect(offences(({ from, to }) => place(from) >= 0 && place(to) > place(from))).toEqual([]);
  });

  test('keeps GraphQL and HTTP out of the domains', () => {
    const higher = ['transport', 'schema', 'operations', ...COMPOSITION];
    expect(
      offences(
        ({ from, to }) =>
          DOMAINS.includes(roomOf(from)) &&
          higher.includes(roomOf(to)) &&
          !(from.endsWith('/schema.ts') && roomOf(to) === 'schema'),
      ),
    ).toEqual([]);
    const packages = /from '(graphql|fastify|mercurius|graphql-\w+)'/;
    const speaking = files.filter(
      (file) =>
        [...DOMAINS, 'model', 'storage'].includes(roomOf(file)) &&
        !file.endsWith('/schema.ts') &&
        packages.test(source(file)),
    );
    expect(speaking).toEqual([]);
  });

  test("lets only the visible list of modules import a domain's schema", () => {
    expect(
      offences(({ from, to }) => /^\w+\/schema\.ts$/.test(to) && from !== 'schema/index.ts'),
    ).toEqual([]);
  });

  test('keeps models, storage and foundations below everything else', () => {
    const foundation = (file: string) => FOUNDATIONS.includes(roomOf(file));
    expect(
      offences(
        ({ from, to }) =>
          (['model', 'storage', 'operations'].includes(roomOf(from)) || foundation(from)) &&
          roomOf(from) !== roomOf(to) &&
          !foundation(to),
      ),
    ).toEqual([]);
  });

  test('keeps transports above everything but the composition', () => {
    const above = ['transport', ...COMPOSITION];
    expect(
      offences(
        ({ from, to }) =>
          (roomOf(to) === 'transport' && !above.includes(roomOf(from))) ||
          (COMPOSITION.includes(to) && !COMPOSITION.includes(from)),
      ),
    ).toEqual([]);
  });

  test('lets nothing import the schema but transports and the composition', () => {
    const higher = ['transport', 'schema', ...COMPOSITION];
    expect(
      offences(
        ({ from, to }) =>
          roomOf(to) === 'schema' && !higher.includes(roomOf(from)) && !from.endsWith('/schema.ts'),
      ),
    ).toEqual([]);
  });

  test.each([
    ['chats', []],
    ['runs', ['transport/rest/runs/run-reply.ts']],
    ['deployments', ['transport/rest/deployments/deploy-reply.ts']],
  ])('lets a route of %s hold a mapping in, a stored document and a mapping out', (room, own) => {
    const table = `transport/rest/${room}/routes.ts`;
    const others = importsOf(table).filter(
      (file) => !['operations', 'errors.ts'].includes(roomOf(file)),
    );
    expect(others.sort()).toEqual(
      [
        'transport/rest/route.ts',
        'transport/rest/wire.ts',
        `transport/rest/${room}/replies.ts`,
        `transport/rest/${room}/wire.ts`,
        ...own,
      ].sort(),
    );
    const words = source(table).replaceAll(/\/\*\*.*?\*\/|\/\/.*|'(?:\\.|[^'])*'|`[^`]*`/gs, '');
    const logic = /\b(async|await|if|for|while|do|switch|try|throw|let|yield|Engine|Context)\b/g;
    expect(words.match(logic)).toBeNull();
  });

  test('has every route in the one table', () => {
    const tables = files.filter((file) => /^transport\/rest\/\w+\/routes\.ts$/.test(file));
    expect(importsOf('transport/rest/routes.ts').sort()).toEqual(tables);
  });

  test('has no import cycles', () => {
    const cycles: string[] = [];
    const finished = new Set<string>();
    const visit = (file: string, path: string[]) => {
      if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      if (path.includes(file) || finished.has(file)) return;
      for (const next of importsOf(file)) if (files.includes(next)) visit(next, [...path, file]);
      finished.add(file);
    };
    for (const file of files) visit(file, []);
    expect(cycles).toEqual([]);
  });

  test('reads the environment in one place', () => {
    const readers = files.filter((file) => source(file).includes('process.env'));
    expect(readers).toEqual(['config.ts']);
  });
});
