import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { describeApi } from '../../src/transport/rest/openapi/document.ts';
import { restRoutes } from '../../src/transport/rest/routes.ts';
import { readWireDocument, resolve, type Schema, typeOf, without } from './wire-types.ts';

const ROOT = join(import.meta.dirname, '../..');
const api = readWireDocument(describeApi(restRoutes));

const operationOf = (id: string) => {
  const found = api.operations.find(({ operationId }) => operationId === id);
  if (!found) throw new Error(`There is no operation ${id}.`);
  return found;
};

const bodyOf = (id: string, omitted: string[] = []): Schema =>
  without(api, operationOf(id).requestBody?.content['application/json']?.schema ?? {}, omitted);

const replyOf = (id: string): Schema =>
  operationOf(id).responses['200']?.content?.['application/json']?.schema ?? {};

/** The parameters of an operation in one place, as an object. */
function parametersOf(id: string, place: 'query' | 'header'): Schema {
  const inPlace = operationOf(id).parameters.flatMap((one) =>
    'in' in one && one.in === place ? [one] : [],
  );
  return {
    type: 'object',
    properties: Object.fromEntries(inPlace.map(({ name, schema }) => [name, schema])),
    required: inPlace.filter(({ required }) => required).map(({ name }) => name),
  };
}

/** Headers that the client sends by itself, or that `headers` and `idempotencyKey` of the options can send. */
const OWN_HEADERS = ['Idempotency-Key', 'X-Environment'];
const RUN_HEADERS = [...OWN_HEADERS, 'Idempotency-Replay-Only', 'X-On-Disconnect', 'traceparent'];

const chatInput = bodyOf('chat', ['stream']);
const chatHeaders = without(api, parametersOf('chat', 'header'), RUN_HEADERS);

/** A frame of a run's events as an event: without its number, and with `type` in place of `event`. */
function eventOf(name: string): Schema {
  const { properties = {}, required = [] } = resolve(api, { $ref: name });
  const { event, delta, ...rest } = properties;
  const isText = event === undefined;
  const type = isText ? { const: 'text' } : event;
  return {
    type: 'object',
    properties: { ...rest, type, ...(isText && delta && { delta }) },
    required: [...required, 'type'],
  };
}

/** Each type of the client with its schema in the document, and the members that the client names otherwise. */
const PAIRS: { client: string; wire: Schema; names?: Record<string, string> }[] = [
  {
    client: 'ChatInput',
    wire: {
      ...chatInput,
      properties: { ...chatInput.properties, ...chatHeaders.properties },
    },
    names: { 'X-Session-ID': 'sessionId', 'X-On-Busy': 'onBusy' },
  },
  { client: 'ChatReply', wire: replyOf('chat') },
  { client: 'ExecuteInput', wire: bodyOf('execute', ['stream']) },
  { client: 'ExecuteReply', wire: replyOf('execute') },
  { client: 'DeployInput', wire: bodyOf('deploy'), names: { agentlang: 'source' } },
  { client: 'DeployReply', wire: replyOf('deploy') },
  { client: 'RollbackInput', wire: bodyOf('rollback') },
  { client: 'RollbackReply', wire: replyOf('rollback') },
  { client: 'DeploymentFilter', wire: parametersOf('listDeployments', 'query') },
  {
    client: '{ deployments: Deployment[]; nextCursor: string | null }',
    wire: replyOf('listDeployments'),
  },
  { client: 'RunFilter', wire: parametersOf('listRuns', 'query') },
  { client: '{ runs: Run[]; nextCursor: string | null }', wire: replyOf('listRuns') },
  { client: 'Run', wire: replyOf('readRun') },
  { client: 'CancelledRun', wire: replyOf('cancelRun') },
  {
    client: "{ type: 'error'; error: RunFailure & { code: ErrorCode } }",
    wire: eventOf('ErrorFrame'),
  },
  { client: "Omit<TextDelta, 'seq'>", wire: eventOf('TextFrame') },
  { client: "Omit<RunDone, 'seq' | 'error'>", wire: eventOf('DoneFrame') },
  { client: "Omit<RunStarted, 'seq'>", wire: eventOf('RunStartedFrame') },
  { client: "Omit<ToolStarted, 'seq'>", wire: eventOf('ToolStartedFrame') },
  { client: "Omit<ToolFinished, 'seq'>", wire: eventOf('ToolFinishedFrame') },
];

/** One assertion for the types as they are, and one each for a member that only one side has. */
function assertionsOf({ client, wire, names }: (typeof PAIRS)[number], index: number): string {
  const both = typeOf(api, wire, { ...(names && { names }) });
  const more = typeOf(api, wire, { ...(names && { names }), added: 'addedField' });
  return `
type Client${index} = ${client};
const same${index}: Equal<Client${index}, ${both}> = true;
const onWire${index}: Equal<Client${index}, ${more}> = false;
const inClient${index}: Equal<Client${index} & { addedField?: string }, ${both}> = false;
export { same${index}, onWire${index}, inClient${index} };`;
}

const PROGRAM = `
import type {
  CancelledRun, ChatInput, ChatReply, DeployInput, DeployReply, Deployment, DeploymentFilter, ExecuteInput,
  ExecuteReply, RollbackInput, RollbackReply, Run, RunDone, RunFailure, RunFilter, RunStarted, TextDelta, ToolFinished,
  ToolStarted,
} from '${join(ROOT, 'src/client/index.ts')}';

type ErrorCode = ${typeOf(api, resolve(api, { $ref: 'Error' }).properties?.error?.properties?.code ?? {})};

/** Intersections as plain objects, so that only members count. */
type Flat<T> = T extends readonly (infer Entry)[] ? Flat<Entry>[]
  : T extends object ? { [Name in keyof T]: Flat<T[Name]> } : T;
type Equal<A, B> =
  (<T>() => T extends Flat<A> ? 1 : 2) extends <T>() => T extends Flat<B> ? 1 : 2 ? true : false;
${PAIRS.map(assertionsOf).join('\n')}
`;

describe("the client's types", () => {
  test('equal the types of the OpenAPI document, and a member on one side alone would be an error', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'parley-types-'));
    await writeFile(join(directory, 'types.mts'), PROGRAM);
    const config = {
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: { types: [], incremental: false, tsBuildInfoFile: null, rootDir: '/' },
      files: ['types.mts'],
      include: [],
    };
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const { stdout } = await promisify(execFile)(tsc, ['-p', '.'], { cwd: directory }).catch(
      (error) => error,
    );
    const lines = PROGRAM.split('\n');
    const wrong = [...stdout.matchAll(/^types\.mts\((\d+),.*$/gm)].map(([error, line]) => {
      const [, index] = /^const [a-zA-Z]+(\d+)/.exec(lines[Number(line) - 1] ?? '') ?? [];
      return index ? `${PAIRS[Number(index)]?.client} differs from the document` : error;
    });
    expect(wrong).toEqual([]);
    expect(stdout).toBe('');
  });

  test('cover every operation, and every query parameter and header', () => {
    const covered = ['chat', 'execute', 'deploy', 'rollback', 'listDeployments'];
    const runs = ['listRuns', 'readRun', 'cancelRun', 'followRun'];
    // The client streams by `chat`, which has the same fields.
    const unused = ['streamChat', 'streamChatByQuery', 'readApiDescription'];
    // People decide in the console, by the command or in a chat.
    const ofPeople = ['listApprovals', 'readApproval', 'decideApproval'];
    // The command runs tests.
    const ofAuthors = ['startEvaluation', 'listEvaluations', 'readEvaluation'];
    expect(api.operations.map(({ operationId }) => operationId).toSorted()).toEqual(
      [...covered, ...runs, ...unused, ...ofPeople, ...ofAuthors].toSorted(),
    );
    const namesIn = (id: string, place: 'query' | 'header') =>
      Object.keys(parametersOf(id, place).properties ?? {}).toSorted();
    const headers = Object.fromEntries(
      [...covered, ...runs].map((id) => [id, namesIn(id, 'header')]),
    );
    expect(headers).toEqual({
      chat: [...RUN_HEADERS, 'X-Session-ID', 'X-On-Busy'].toSorted(),
      execute: RUN_HEADERS.toSorted(),
      deploy: OWN_HEADERS.toSorted(),
      rollback: ['Idempotency-Key'],
      listDeployments: [],
      listRuns: [],
      readRun: [],
      cancelRun: [],
      // `after` of `runEvents`.
      followRun: ['Last-Event-ID'],
    });
    expect(namesIn('followRun', 'query')).toEqual(['after']);
    // The forms for sources as text, and for shells.
    expect(namesIn('deploy', 'query')).toEqual(['environment', 'message', 'strict']);
    expect(namesIn('execute', 'query')).toEqual([]);
  });

  test('have every kind of event', () => {
    const frames = resolve(api, { $ref: 'EventFrame' }).anyOf ?? [];
    expect(frames.map(({ $ref = '' }) => $ref.split('/').at(-1)).toSorted()).toEqual([
      'DoneFrame',
      'ErrorFrame',
      'RunStartedFrame',
      'TextFrame',
      'ToolFinishedFrame',
      'ToolStartedFrame',
    ]);
  });
});
