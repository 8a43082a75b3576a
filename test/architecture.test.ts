import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = new URL('..', import.meta.url).pathname;
const SRC = join(ROOT, 'src');

/** The domains from left to right. Each may import the domains before it. */
const DOMAINS = [
  'language',
  'accounts',
  'bots',
  'redaction',
  'idempotency',
  'deployments',
  'sessions',
  'runs',
  'agent',
  'execution',
  'approvals',
  'evaluations',
  'channels',
  'transfer',
];
/** Small tools that every module may import. */
const TOOLS = ['text', 'async', 'errors', 'vocabulary', 'observability'];
/** The modules below the domains. Each may import the modules before it. */
const GROUND = [...TOOLS, 'model', 'egress', 'storage', 'coordination'];
/** The modules that put the others together, and the programs that build them. */
const COMPOSITION = ['start', 'build'];
const MODULES = [
  ...DOMAINS,
  ...GROUND,
  ...COMPOSITION,
  'generated',
  'schema',
  'transport',
  'console',
  'client',
  'command',
];

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !/^(generated|client\/dist)\//.test(path))
  .sort();

const source = (file: string) => readFileSync(join(SRC, file), 'utf8');

/** The files of `src/` that a file imports, including type imports. */
function importsOf(file: string): string[] {
  const specifiers = source(file).matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+\.tsx?)'/g);
  return [...specifiers].map(([, specifier = '']) =>
    relative(SRC, join(SRC, dirname(file), specifier)),
  );
}

/** The files of `src/` that a file imports at run time. */
function valuesOf(file: string): string[] {
  const statements = source(file).matchAll(
    /^(?:import|export)\s(?!type\b)(?:[^'";]*?\sfrom\s)?\s*'(\.[^']+\.tsx?)'/gm,
  );
  return [...statements].map(([, specifier = '']) =>
    relative(SRC, join(SRC, dirname(file), specifier)),
  );
}

const moduleOf = (file: string) => file.split('/')[0] ?? file;
const edges = files.flatMap((from) => importsOf(from).map((to) => ({ from, to })));
const violations = (forbidden: (edge: { from: string; to: string }) => boolean) =>
  edges.filter(forbidden).map(({ from, to }) => `${from} imports ${to}`);

/** Some files and all that they import, directly or through others, for more than their types. */
function reachable(from: readonly string[]): string[] {
  const found = new Set(from);
  for (const file of found) for (const next of valuesOf(file)) found.add(next);
  return [...found].filter((file) => files.includes(file));
}

/** The cycles in a graph of names, each found once. */
function cyclesIn(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const cycles: string[] = [];
  const finished = new Set<string>();
  const visit = (name: string, path: string[]) => {
    if (path.includes(name)) cycles.push([...path.slice(path.indexOf(name)), name].join(' → '));
    if (path.includes(name) || finished.has(name)) return;
    for (const next of graph.get(name) ?? []) visit(next, [...path, name]);
    finished.add(name);
  };
  for (const name of graph.keys()) visit(name, []);
  return cycles;
}

/** The folders that contain a file, from `src/` (the empty path) to its own. */
function foldersAbove(file: string): string[] {
  const parts = file.split('/');
  return parts.map((_, depth) => parts.slice(0, depth).join('/'));
}

/** The imports among the entries of a folder: its files, and its subfolders with all that they contain. */
function importsWithin(parent: string): Map<string, string[]> {
  const prefix = parent && `${parent}/`;
  const entryOf = (file: string) =>
    file.startsWith(prefix) ? prefix + moduleOf(file.slice(prefix.length)) : undefined;
  const graph = new Map<string, string[]>();
  for (const { from, to } of edges) {
    const [importer, imported] = [entryOf(from), entryOf(to)];
    if (!importer || !imported || importer === imported) continue;
    graph.set(importer, [...(graph.get(importer) ?? []), imported]);
  }
  return graph;
}

describe('the architecture', () => {
  test('has only known modules, and no file outside of them', () => {
    expect(files.map(moduleOf).filter((room) => !MODULES.includes(room))).toEqual([]);
    const entries = readdirSync(SRC, { withFileTypes: true });
    expect(entries.filter((entry) => !entry.isDirectory())).toEqual([]);
  });

  test.each([
    ['domains', DOMAINS],
    ['modules below the domains', GROUND],
  ])('lets the %s import only those before them', (_which, order) => {
    const indexIn = (file: string) => order.indexOf(moduleOf(file));
    expect(violations(({ from, to }) => indexIn(from) >= 0 && indexIn(to) > indexIn(from))).toEqual(
      [],
    );
  });

  test('keeps GraphQL and HTTP out of every file below the schema, also through other files', () => {
    const reached = reachable(
      files.filter((file) => [...DOMAINS, ...GROUND].includes(moduleOf(file))),
    );
    const higher = ['transport', 'schema', ...COMPOSITION];
    expect(reached.filter((file) => higher.includes(moduleOf(file)))).toEqual([]);
    const packages = /from '(graphql|fastify|mercurius|@pothos\/[\w-]+|graphql-\w+)'/;
    expect(reached.filter((file) => packages.test(source(file)))).toEqual([]);
  });

  test('keeps GraphQL and Prisma out of the errors, and Parley out of the tools', () => {
    const reached = reachable(files.filter((file) => TOOLS.slice(0, 3).includes(moduleOf(file))));
    expect(reached.filter((file) => !TOOLS.includes(moduleOf(file)))).toEqual([]);
    const offending = edges.filter(
      ({ from, to }) => moduleOf(from) === 'errors' && moduleOf(to) === 'generated',
    );
    expect(offending).toEqual([]);
    expect(
      files.filter((file) => moduleOf(file) === 'errors' && /@prisma|graphql/.test(source(file))),
    ).toEqual([]);
  });

  test('keeps the domains out of the modules below them', () => {
    const ground = (file: string) => [...GROUND, 'generated'].includes(moduleOf(file));
    expect(
      violations(({ from, to }) => ground(from) && moduleOf(from) !== moduleOf(to) && !ground(to)),
    ).toEqual([]);
  });

  test('lets only the composition import the transports', () => {
    const above = ['transport', ...COMPOSITION];
    expect(
      violations(
        ({ from, to }) =>
          (moduleOf(to) === 'transport' && !above.includes(moduleOf(from))) ||
          (COMPOSITION.includes(moduleOf(to)) && !COMPOSITION.includes(moduleOf(from))),
      ),
    ).toEqual([]);
  });

  test('lets the console import only the language, the client, the vocabulary, the reader of Markdown, lazy values and its own operations', () => {
    const allowed = (file: string) =>
      ['console', 'client', 'language', 'vocabulary'].includes(moduleOf(file)) ||
      ['text/markdown.ts', 'async/lazy.ts'].includes(file) ||
      file === 'generated/operations/console.ts';
    expect(violations(({ from, to }) => moduleOf(from) === 'console' && !allowed(to))).toEqual([]);
    expect(
      violations(
        ({ from, to }) =>
          moduleOf(to) === 'console' &&
          moduleOf(from) !== 'console' &&
          !(
            /^console\/screen(s|-addresses)\.ts$/.test(to) && from.startsWith('transport/console/')
          ),
      ),
    ).toEqual([]);
    // The server reads the table of screens.
    expect(importsOf('console/screens.ts')).toEqual([]);
    expect(importsOf('console/screen-addresses.ts')).toEqual(['console/screens.ts']);
  });

  test('keeps the client, which is published by itself, apart from the server', () => {
    expect(
      violations(
        ({ from, to }) =>
          (moduleOf(from) === 'client' && moduleOf(to) !== 'client') ||
          (moduleOf(to) === 'client' && !['client', 'command', 'console'].includes(moduleOf(from))),
      ),
    ).toEqual([]);
  });

  test('lets the command import only the client, the language, the vocabulary, private files and its own operations', () => {
    const allowed = (file: string) =>
      ['command', 'client', 'language', 'vocabulary'].includes(moduleOf(file)) ||
      file === 'storage/private-file.ts' ||
      file === 'generated/operations/command.ts';
    expect(violations(({ from, to }) => moduleOf(from) === 'command' && !allowed(to))).toEqual([]);
    expect(
      violations(({ from, to }) => moduleOf(to) === 'command' && moduleOf(from) !== 'command'),
    ).toEqual([]);
  });

  test('lets only REST, MCP, OpenAI’s API, the console and the command import their operations, and only GraphQL the texts of all', () => {
    const users = {
      'generated/operations/rest.ts': ['transport/rest', 'transport/mcp'],
      'generated/operations/openai.ts': ['transport/openai'],
      'generated/operations/console.ts': ['console'],
      'generated/operations/command.ts': ['command'],
      'generated/operations/persisted.ts': ['transport/graphql'],
    };
    const imported = edges.filter(({ to }) => to.startsWith('generated/operations/'));
    expect(new Set(imported.map(({ to }) => to))).toEqual(new Set(Object.keys(users)));
    expect(
      Object.entries(users).flatMap(([module, rooms]) =>
        violations(
          ({ from, to }) => to === module && !rooms.some((room) => from.startsWith(`${room}/`)),
        ),
      ),
    ).toEqual([]);
  });

  test('lets only transports and the composition import the schema', () => {
    const higher = ['transport', 'schema', ...COMPOSITION];
    expect(
      violations(({ from, to }) => moduleOf(to) === 'schema' && !higher.includes(moduleOf(from))),
    ).toEqual([]);
  });

  test.each([
    ['rest/chats', ['chat-wire.ts', 'frame-encoder.ts', 'wire.ts'], []],
    [
      'rest/runs',
      ['frame-encoder.ts', 'run-query.ts', 'run-wire.ts', 'tool-call-wire.ts', 'wire.ts'],
      ['vocabulary/names.ts'],
    ],
    ['rest/approvals', ['approval-wire.ts', 'wire.ts'], []],
    [
      'rest/evaluations',
      ['evaluation-reply.ts', 'evaluation-reply-wire.ts', 'evaluation-wire.ts', 'wire.ts'],
      ['vocabulary/evaluations.ts'],
    ],
    [
      'rest/deployments',
      ['deployment-wire.ts', 'wire.ts'],
      ['language/diagnostic.ts', 'vocabulary/names.ts'],
    ],
    ['openai/models', ['model-wire.ts', 'openai-wire.ts'], []],
    [
      'openai/completions',
      ['completion-encoder.ts', 'completion-request.ts', 'completion-wire.ts', 'openai-wire.ts'],
      [],
    ],
    [
      'openai/responses',
      [
        ...['openai-wire.ts', 'response-encoder.ts', 'response-reply.ts'],
        ...['response-request.ts', 'response-wire.ts'],
      ],
      [],
    ],
  ])('lets a route of %s contain only a stored document and its mappings', (name, own, others) => {
    const table = `transport/${name}.ts`;
    const [folder = ''] = name.split('/');
    const imported = importsOf(table).filter(
      (file) => file !== `generated/operations/${folder}.ts` && moduleOf(file) !== 'errors',
    );
    const mappings = own.map((file) => `transport/${folder}/${file}`);
    expect(imported.sort()).toEqual(['transport/rest/route.ts', ...mappings, ...others].sort());
    const words = source(table).replaceAll(/\/\*\*.*?\*\/|\/\/.*|'(?:\\.|[^'])*'|`[^`]*`/gs, '');
    const logic = /\b(async|await|if|for|while|do|switch|try|throw|let|yield|Engine|Context)\b/g;
    expect(words.match(logic)).toBeNull();
  });

  test('has every route in one table', () => {
    const tables = files.filter((file) => /(?<!\.)\broute\(\{/.test(source(file)));
    const lists = importsOf('transport/routes.ts');
    expect(lists.flatMap(importsOf).sort()).toEqual(tables);
  });

  test('has no cycles of files', () => {
    const imports = new Map(files.map((file) => [file, importsOf(file)]));
    expect(cyclesIn(imports)).toEqual([]);
  });

  test('has no cycles of folders', () => {
    const parents = new Set(files.flatMap((file) => foldersAbove(file)));
    expect([...parents].flatMap((parent) => cyclesIn(importsWithin(parent)))).toEqual([]);
  });

  test('has no nested folder with a single file', () => {
    const folders = Map.groupBy(files, (file) => dirname(file));
    const hasFolder = (folder: string) =>
      [...folders.keys()].some((other) => other.startsWith(`${folder}/`));
    expect(
      [...folders].flatMap(([folder, inside]) =>
        folder.includes('/') && inside.length === 1 && !hasFolder(folder) ? inside : [],
      ),
    ).toEqual([]);
  });

  test('reads the environment in one file of the server, and in one of the command', () => {
    // The console runs in the browser. It only shows code that reads the environment.
    const ofServer = files.filter((file) => !file.startsWith('console/'));
    const readers = ofServer.filter((file) => source(file).includes('process.env'));
    expect(readers).toEqual(['command/environment.ts', 'start/env-file.ts']);
  });
});

describe('the walks of docs/architecture.md', () => {
  const document = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  const namesIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
  const hops = [...document.matchAll(/^\| [\d–]+ \| (.+?) \| (.+?) \|/gm)].map(
    ([, file = '', functions = '']) => ({ hop: namesIn(file), functions: namesIn(functions) }),
  );

  test('name only files that exist', () => {
    const named = hops.flatMap(({ hop }) => hop);
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter((file) => !existsSync(join(SRC, file)))).toEqual([]);
    const paths = [...document.matchAll(/`([a-z-]+\/[\w/-]+\.tsx?)`/g)].map(
      ([, path = '']) => path,
    );
    const known = (path: string) => files.includes(path) || existsSync(join(ROOT, path));
    expect(paths.filter((path) => !known(path))).toEqual([]);
  });

  test('name only functions that their files contain', () => {
    const missing = hops.flatMap(({ hop: [file = ''], functions }) =>
      functions.flatMap((name) => {
        const word = new RegExp(`\\b${name.split('.').at(-1)}\\b`);
        return word.test(source(file)) ? [] : [`${name} in ${file}`];
      }),
    );
    expect(missing).toEqual([]);
  });
});

describe('the lists of docs/architecture.md', () => {
  const document = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  const [part = ''] = /^## Where do I add.*?(?=^## )/ms.exec(document) ?? [];
  const exists = (path: string) => existsSync(join(ROOT, path)) || existsSync(join(SRC, path));
  const rows = [...part.matchAll(/^\| `([^`]+)` \| (.+) \| (.+) \|$/gm)].map(
    ([, file = '', what = '', held = '']) => ({ file, what, held }),
  );

  test('name only files that exist', () => {
    expect(part.match(/^### /gm)).toHaveLength(9);
    expect(part.match(/^\| `/gm)).toHaveLength(rows.length);
    const named = [...part.matchAll(/`((?:\.?[\w-]+\/)+[\w.-]+\.\w+)`/g)].map(
      ([, path = '']) => path,
    );
    expect([...rows.map(({ file }) => file), ...named].filter((path) => !exists(path))).toEqual([]);
  });

  test('name the types, or a test that exists, for each file that cannot be forgotten', () => {
    const tests = rows.flatMap(({ held }) => /^`(.+)`$/.exec(held)?.[1] ?? []);
    expect(tests.filter((name) => !exists(`test/${name}.test.ts`))).toEqual([]);
    const others = rows.map(({ held }) => held).filter((held) => !held.startsWith('`'));
    expect([...new Set(others)].sort()).toEqual(['-', 'types']);
  });

  test('name only targets of npm that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const targets = [...part.matchAll(/npm run ([\w:]+)/g)].map(([, target = '']) => target);
    expect(targets.length).toBeGreaterThan(5);
    expect(targets.filter((target) => !(target in scripts))).toEqual([]);
  });
});
