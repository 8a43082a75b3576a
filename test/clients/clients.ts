/**
 * `npm run test:clients`: generates clients from a running Parley, type-checks programs that use these and other public
 * clients, and runs each program. It also checks the package of the TypeScript client, and the OpenAPI document. Prints one
 * line for each, and fails if one of them fails.
 *
 * Parley is started with an embedded database and the offline model. One of its agents calls the reference server of MCP,
 * others use public model servers that play recorded answers, and it sends its traces to a collector. All traffic stays on
 * loopback. The packages of this folder are installed first if they are missing or older than their lock.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createAccount, graphqlAt } from '../hostile/tenants.ts';
import { DIRECTORY, install, installPython, run, runFile, runPython } from './processes.ts';
import { startServers } from './servers.ts';

/** Each generator by its package, with its command. `PARLEY_URL` and `PARLEY_API_KEY` are set. */
const generators = (url: string) => ({
  'openapi-typescript': `openapi-typescript ${url}/v1/openapi.json --output generated/openapi-typescript.ts`,
  '@hey-api/openapi-ts': `openapi-ts --input ${url}/v1/openapi.json --output generated/hey-api --no-log-file`,
  orval: 'orval --config orval.config.js --fail-on-warnings',
  'relay-compiler': 'relay-compiler relay.config.json',
  '@graphql-codegen/cli': 'graphql-codegen --config codegen.config.js',
});

/** Each checker of the TypeScript client's package, with its command. */
const CHECKERS = {
  publint: 'publint ../../src/client --strict',
  '@arethetypeswrong/cli': 'attw --pack ../../src/client --profile esm-only',
};

/** Each package that a client needs, or that Parley is a client of, and the program that uses it. */
const PROGRAMS = {
  'openapi-fetch': 'openapi-fetch',
  '@hey-api/openapi-ts': 'hey-api',
  orval: 'orval',
  '@urql/core': 'urql',
  '@apollo/client': 'apollo-client',
  'graphql-request': 'graphql-request',
  'relay-runtime': 'relay',
  '@graphql-codegen/client-preset': 'graphql-codegen',
  '@modelcontextprotocol/server-everything': 'mcp',
  '@modelcontextprotocol/conformance': 'mcp-conformance',
  '@redocly/openapi-core': 'redocly',
  openai: 'openai',
  ai: 'ai-sdk',
  '@langchain/openai': 'langchain',
  '@copilotkit/aimock': 'aimock',
  '@dwmkerr/mock-llm': 'mock-llm',
};

const CREATE_BOT = `mutation ($id: ID!, $source: String!) {
  createBot(input: { id: $id, name: "Client" }) { id }
  deploy(botId: $id, input: { source: $source }) { id }
}`;
const LIMIT = `mutation ($id: ID!) { updateAccount(id: $id, input: { plan: FREE }) { id } }`;
const SOURCE =
  'agentlang 5\nagent "Clients" {\n  description "Chats"\n  prompt "You are brief."\n}\n';

let passed = 0;
let failed = 0;

/** Runs a check, and prints its result or the reason of its failure. @returns whether it passed. */
async function check(name: string, work: () => Promise<string>): Promise<boolean> {
  try {
    const done = await work();
    console.log(`ok      ${name}: ${done}`);
    passed += 1;
    return true;
  } catch (error) {
    console.log(`FAILED  ${name}: ${error instanceof Error ? error.message : error}`);
    failed += 1;
    return false;
  }
}

/** Runs at most one job for each core at a time. */
async function inParallel(jobs: (() => Promise<unknown>)[]): Promise<void> {
  const queue = jobs.values();
  const worker = async () => {
    for (const job of queue) await job();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

/** The package's name and installed version. */
async function titleOf(name: string): Promise<string> {
  const text = await readFile(join(DIRECTORY, 'node_modules', name, 'package.json'), 'utf8');
  return `${name} ${JSON.parse(text).version}`;
}

/** A check for each package, which runs its command. @param result the text of the line if the command succeeds. */
function commandChecks(
  commands: Record<string, string>,
  result: string,
  options: Parameters<typeof run>[2],
): (() => Promise<boolean>)[] {
  return Object.entries(commands).map(([name, line]) => async () => {
    const [command = '', ...args] = line.split(' ');
    return check(await titleOf(name), async () => {
      await run(command, args, options);
      return result;
    });
  });
}

/** Writes the samples of the guide in a language as programs of the bot `guide`. @returns their names. */
async function writeGuide(url: string, heading: string, extension: string): Promise<string[]> {
  const page = await readFile(join(DIRECTORY, '../../docs/entrances.md'), 'utf8');
  const blocks = page.matchAll(new RegExp(`^\`\`\`${heading}\\n(.*?)^\`\`\`$`, 'gms'));
  const samples = [...blocks].map(([, text = '']) =>
    text.replaceAll('http://127.0.0.1:4000', url).replaceAll(/(['"])demo\1/g, '$1guide$1'),
  );
  return Promise.all(
    samples.map(async (text, index) => {
      await writeFile(join(DIRECTORY, `generated/guide-${index + 1}.${extension}`), text);
      return `guide-${index + 1}`;
    }),
  );
}

/** @param env the server's address and key. */
async function generate(env: Env, signal: AbortSignal): Promise<void> {
  for (const directory of ['generated', 'build'])
    await rm(join(DIRECTORY, directory), { recursive: true, force: true });
  // relay-compiler does not create its directory.
  await mkdir(join(DIRECTORY, 'generated/relay'), { recursive: true });
  await inParallel(commandChecks(generators(env.PARLEY_URL), 'generated', { env, signal }));
}

/** @throws Error if the packages cannot be installed or a server does not start. */
async function test(signal: AbortSignal): Promise<void> {
  await using stack = new AsyncDisposableStack();
  await install(signal);
  const servers = await startServers(signal, stack);
  const graphql = graphqlAt(servers.url);
  const { apiKey } = await createAccount(graphql, servers.operatorKey, 'Clients');
  const limited = await createAccount(graphql, servers.operatorKey, 'Limited');
  await graphql(servers.operatorKey, LIMIT, { id: limited.id });
  const env = {
    PARLEY_URL: servers.url,
    PARLEY_API_KEY: apiKey,
    PARLEY_LIMITED_KEY: limited.apiKey,
    MCP_URL: servers.mcpUrl,
    AIMOCK_URL: servers.aimockUrl,
    MOCK_LLM_URL: servers.mockLlmUrl,
  };

  await generate(env, signal);
  const guide = await writeGuide(servers.url, 'ts skip', 'ts');
  const pythonGuide = await writeGuide(servers.url, 'python', 'py');
  const areTyped = await check(await titleOf('typescript'), async () => {
    await run('tsc', ['--project', 'tsconfig.json'], { signal });
    return `type-checked and compiled ${Object.keys(PROGRAMS).length} programs`;
  });
  if (!areTyped) return;

  const jobs = Object.entries(PROGRAMS).map(([name, program]) => async () => {
    await check(await titleOf(name), async () => {
      await graphql(apiKey, CREATE_BOT, { id: program, source: SOURCE });
      const own = { ...env, PARLEY_BOT: program };
      return runFile(`build/programs/${program}.js`, [], { env: own, signal });
    });
  });
  await inParallel(jobs);
  await graphql(apiKey, CREATE_BOT, { id: 'guide', source: SOURCE });
  for (const name of guide)
    await check(`sample ${name}`, () => runFile(`build/generated/${name}.js`, [], { env, signal }));
  await testPython(graphql, { env, signal, samples: pythonGuide });
  await inParallel(commandChecks(CHECKERS, 'found no problem', { signal }));
  await check('OTLP collector', servers.stopAndReadTraces);
}

/** Checks the Python package, and the samples of the guide in Python. @throws Error without Python, if CI runs. */
async function testPython(
  graphql: ReturnType<typeof graphqlAt>,
  { env, signal, samples }: { env: Env; signal: AbortSignal; samples: string[] },
): Promise<void> {
  const folder = await installPython(signal);
  if (folder === undefined && process.env.CI) throw new Error('There is no Python with pip.');
  if (folder === undefined)
    return console.log('skipped openai for Python: there is no Python with pip.');
  await check('openai for Python', async () => {
    await graphql(env.PARLEY_API_KEY, CREATE_BOT, { id: 'python', source: SOURCE });
    const own = { ...env, PARLEY_BOT: 'python' };
    return runPython('programs/python_openai.py', folder, { env: own, signal });
  });
  for (const name of samples)
    await check(`sample ${name} in Python`, () =>
      runPython(`generated/${name}.py`, folder, { env, signal }),
    );
}

/** The server's address and key, for programs. */
type Env = { PARLEY_URL: string; PARLEY_API_KEY: string };

const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interruption.abort());
await test(interruption.signal).catch((error) => {
  console.log(`FAILED  ${error.message}`);
  failed += 1;
});
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
