import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = new URL('..', import.meta.url).pathname;
const SRC = join(ROOT, 'src');

/** The domains, left to right: each may import the domains before it. */
const DOMAINS = [
  'language',
  'accounts',
  'bots',
  'idempotency',
  'deployments',
  'sessions',
  'runs',
  'agent',
  'execution',
  'channels',
];
/** What domains stand on: each may import the rooms before it. */
const GROUND = ['model', 'egress', 'storage', 'coordination'];

/** Files that every room may use. They use nothing of Parley but each other. */
const FOUNDATIONS = [
  'deadline.ts',
  'error-log.ts',
  'errors.ts',
  'graphql-message.ts',
  'ids.ts',
  'input.ts',
  'json.ts',
  'lifetime.ts',
  'log.ts',
  'observer.ts',
  'outage.ts',
  'periodic.ts',
  'text.ts',
  'version.ts',
  'generated',
];
const ROOMS = [...DOMAINS, ...GROUND, 'schema', 'operations', 'transport', 'console'];
const COMPOSITION = [
  'start.ts',
  'server.ts',
  'app.ts',
  'domains.ts',
  'config.ts',
  'environment-variables.ts',
];

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('generated/'))
  .sort();

const source = (file: string) => readFileSync(join(SRC, file), 'utf8');

/** The files of `src/` that a file imports, types too. */
function importsOf(file: string): string[] {
  const specifiers = source(file).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+\.tsx?)'/g);
  return [...specifiers].map(([, specifier = '']) =>
    relative(SRC, join(SRC, dirname(file), specifier)),
  );
}

const roomOf = (file: string) => file.split('/')[0] ?? file;
const edges = files.flatMap((from) => importsOf(from).map((to) => ({ from, to })));
const offences = (forbidden: (edge: { from: string; to: string }) => boolean) =>
  edges.filter(forbidden).map(({ from, to }) => `${from} imports ${to}`);

/** The circles among names that lead to names, each as it is met first. */
function circlesIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = [];
  const finished = new Set<string>();
  const visit = (name: string, path: string[]) => {
    if (path.includes(name)) circles.push([...path.slice(path.indexOf(name)), name].join(' → '));
    if (path.includes(name) || finished.has(name)) return;
    for (const next of graph.get(name) ?? []) visit(next, [...path, name]);
    finished.add(name);
  };
  for (const name of graph.keys()) visit(name, []);
  return circles;
}

describe('the architecture', () => {
  test('has no rooms and no files at the top but the known ones', () => {
    const known = [...FOUNDATIONS, ...ROOMS, ...COMPOSITION];
    expect(files.map(roomOf).filter((room) => !known.includes(room))).toEqual([]);
  });

  test.each([
    ['domains', DOMAINS],
    ['rooms below the domains', GROUND],
  ])('lets the %s import only those before them', (_which, order) => {
    const place = (file: string) => order.indexOf(roomOf(file));
    expect(offences(({ from, to }) => place(from) >= 0 && place(to) > place(from))).toEqual([]);
  });

  test('keeps GraphQL and HTTP out of every file below the schema', () => {
    const below = [...DOMAINS, ...GROUND];
    const higher = ['transport', 'schema', 'operations', ...COMPOSITION];
    expect(
      offences(({ from, to }) => below.includes(roomOf(from)) && higher.includes(roomOf(to))),
    ).toEqual([]);
    const packages = /from '(graphql|fastify|mercurius|@pothos\/[\w-]+|graphql-\w+)'/;
    const speaking = files.filter(
      (file) => below.includes(roomOf(file)) && packages.test(source(file)),
    );
    expect(speaking).toEqual([]);
  });

  test('keeps the domains out of what they stand on', () => {
    const ground = (file: string) =>
      [...GROUND, 'operations', ...FOUNDATIONS].includes(roomOf(file));
    expect(
      offences(({ from, to }) => ground(from) && roomOf(from) !== roomOf(to) && !ground(to)),
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

  test('lets the console import nothing but the language and its own operations', () => {
    const allowed = (file: string) =>
      ['console', 'language'].includes(roomOf(file)) || file.startsWith('operations/console/');
    expect(offences(({ from, to }) => roomOf(from) === 'console' && !allowed(to))).toEqual([]);
    expect(
      offences(({ from, to }) => roomOf(to) === 'console' && roomOf(from) !== 'console'),
    ).toEqual([]);
  });

  test('lets nothing import the schema but transports and the composition', () => {
    const higher = ['transport', 'schema', ...COMPOSITION];
    expect(
      offences(({ from, to }) => roomOf(to) === 'schema' && !higher.includes(roomOf(from))),
    ).toEqual([]);
  });

  test.each([
    ['chats', 'chat-wire', []],
    ['runs', 'run-wire', ['text.ts']],
    ['deployments', 'deployment-wire', ['language/diagnostic.ts', 'text.ts']],
  ])(
    'lets a route of %s hold a mapping in, a stored document and a mapping out',
    (name, wire, own) => {
      const table = `transport/rest/${name}.ts`;
      const others = importsOf(table).filter(
        (file) => !['operations', 'errors.ts'].includes(roomOf(file)),
      );
      expect(others.sort()).toEqual(
        [
          'transport/rest/route.ts',
          'transport/rest/wire.ts',
          `transport/rest/${wire}.ts`,
          ...own,
        ].sort(),
      );
      const words = source(table).replaceAll(/\/\*\*.*?\*\/|\/\/.*|'(?:\\.|[^'])*'|`[^`]*`/gs, '');
      const logic = /\b(async|await|if|for|while|do|switch|try|throw|let|yield|Engine|Context)\b/g;
      expect(words.match(logic)).toBeNull();
    },
  );

  test('has every route in the one table', () => {
    const tables = files.filter((file) => /(?<!\.)\broute\(\{/.test(source(file)));
    expect(importsOf('transport/rest/routes.ts').sort()).toEqual(tables);
  });

  test('has no circles of files', () => {
    const imports = new Map(files.map((file) => [file, importsOf(file)]));
    expect(circlesIn(imports)).toEqual([]);
  });

  test('has no circles of rooms', () => {
    const imports = Map.groupBy(edges, ({ from }) => roomOf(from));
    const rooms = [...imports].map(([room, all]): [string, string[]] => [
      room,
      all.map(({ to }) => roomOf(to)).filter((to) => to !== room),
    ]);
    expect(circlesIn(new Map(rooms))).toEqual([]);
  });

  test('has no folder within a room for a single file', () => {
    const folders = Map.groupBy(files, (file) => dirname(file));
    const hasFolder = (folder: string) =>
      [...folders.keys()].some((other) => other.startsWith(`${folder}/`));
    expect(
      [...folders].flatMap(([folder, inside]) =>
        folder.includes('/') && inside.length === 1 && !hasFolder(folder) ? inside : [],
      ),
    ).toEqual([]);
  });

  test('reads the environment in one place', () => {
    const readers = files.filter((file) => source(file).includes('process.env'));
    expect(readers).toEqual(['config.ts']);
  });
});
