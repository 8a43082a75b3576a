import { expect } from 'vitest';
import { readDefinition } from '../../../src/language/read.ts';
import { agentWith, agentWithCapability, codesOf, define, many, problemsOf } from '../helpers.ts';
import type { Sentences } from './sentences.ts';
import { answerTo, neverEnds, redirectsForever } from './service.ts';

/** The only capability of an agent. */
function capabilityOf(text: string) {
  const [group] = define(agentWithCapability(text)).tools;
  if (group?.type !== 'http') throw new Error('no HTTP group');
  const [capability] = group.capabilities;
  if (!capability) throw new Error('no capability');
  return capability;
}

const inputOf = (fields: string) =>
  capabilityOf(`      input {\n${fields}\n      }\n      get "https://a.example/"`).input;

const requestWith = (settings: string) =>
  agentWithCapability(`get "https://a.example/" { ${settings} }`);

export const TOOLS: Sentences = {
  '`tools` with a block is a group of capabilities, each called by the model as `<group>.<capability>`.':
    () => {
      const capability = (name: string) => `capability ${name} "d" { get "https://a.example/" }`;
      const source = agentWith(`  tools g { ${capability('b')} ${capability('a')} }`);
      expect(readDefinition(source).tools).toEqual(['g.a', 'g.b']);
      expect(define(source).tools).toMatchObject([
        { type: 'http', name: 'g', capabilities: [{ name: 'b' }, { name: 'a' }] },
      ]);
    },
  'An agent has at most 16 groups of tools, and at most 128 capabilities in all of them.': () => {
    const groups = (count: number) => many(count, (index) => `tools g${index} mcp env.U`, '\n');
    expect(define(agentWith(groups(16))).tools).toHaveLength(16);
    expect(codesOf(agentWith(groups(17)))).toEqual(['too-many']);
    const group = (name: string, count: number) =>
      `tools ${name} { ${many(count, (index) => `capability c${index} "d" { get "https://a.b/" }`)} }\n`;
    expect(readDefinition(agentWith(group('a', 100) + group('b', 28))).tools).toHaveLength(128);
    expect(problemsOf(agentWith(`${group('a', 100)}${group('b', 29)}`))).toEqual([
      expect.stringMatching(/^6:.* expected at most 128 capabilities, found 129 \[too-many\]$/),
    ]);
  },
  'A capability has a name and a description, an `input` if it takes any, and then one request.':
    () => {
      const get = 'get "https://a.example/"';
      expect(capabilityOf(get)).toMatchObject({ name: 'c', description: 'd', input: [] });
      expect(codesOf(agentWithCapability(''))).toEqual(['missing-request']);
      expect(codesOf(agentWithCapability(`${get} put "https://a.example/"`))).toEqual([
        'duplicate-setting',
      ]);
      expect(codesOf(agentWithCapability(`${get} input { a string "x" }`))).toEqual([
        'wrong-order',
      ]);
    },
  'An input has a name, a type and an optional description for the model.': () => {
    const type = { kind: 'string', list: false };
    expect(inputOf('a string "x"\nb string')).toEqual([
      { name: 'a', type, optional: false, description: 'x' },
      { name: 'b', type, optional: false, description: undefined },
    ]);
  },
  'The types are `string`, `number`, `integer` and `boolean`, a list of one of them as in `string[]`, and a choice of strings as in `"late" | "lost"`.':
    () => {
      const fields = 'a string "x"\nb number\nc integer[]\nd boolean [ ]\ne "late" | "lost" "y"';
      expect(inputOf(fields).map(({ type }) => type)).toEqual([
        { kind: 'string', list: false },
        { kind: 'number', list: false },
        { kind: 'integer', list: true },
        { kind: 'boolean', list: true },
        { kind: 'choice', choices: ['late', 'lost'] },
      ]);
    },
  'A `?` after the type makes an input optional.': () => {
    const fields = 'a string? "x"\nb number[] ?\nc "x" | "y"?\nd string';
    expect(inputOf(fields).map(({ optional }) => optional)).toEqual([true, true, true, false]);
  },
  'A capability has at most 64 inputs, and a type has at most 100 choices.': () => {
    const fields = (count: number) => many(count, (index) => `f${index} string "d"`, '\n');
    const choices = (count: number) => `a ${many(count, (index) => `"c${index}"`, ' | ')} "d"`;
    expect(inputOf(fields(64))).toHaveLength(64);
    expect(inputOf(choices(100))).toHaveLength(1);
    for (const input of [fields(65), choices(101)])
      expect(codesOf(agentWithCapability(`input { ${input} } get "https://a.b/"`))).toEqual([
        'too-many',
      ]);
  },
  'If no input of a capability has a description, there is a warning.': () => {
    const withInput = (fields: string) =>
      agentWithCapability(`input { ${fields} }\n      get "https://a.example/"`);
    expect(codesOf(withInput('a string b string'))).toEqual(['undescribed-input']);
    expect(codesOf(withInput('a string b string "x"'))).toEqual([]);
    expect(codesOf(withInput(''))).toEqual([]);
  },
  'A request is `get`, `post`, `put`, `patch` or `delete` with a URL, and may have headers, a `timeout`, a `body` and a `query`.':
    () => {
      for (const word of ['get', 'post', 'put', 'patch', 'delete'])
        expect(capabilityOf(`${word} "https://a.example/"`).request).toMatchObject({
          method: word.toUpperCase(),
          url: ['https://a.example/'],
          headers: [],
          query: [],
        });
      const block = '{ header "A" "a" header "B" "b {{ now }}" timeout 1s }';
      expect(capabilityOf(`get "https://a.example/" ${block}`).request).toMatchObject({
        headers: [
          { name: 'A', value: ['a'] },
          { name: 'B', value: ['b ', { path: ['now'] }] },
        ],
        timeout: 1_000,
      });
    },
  'The `timeout` of a request is 1ms to 15m, 10s by default, and covers the whole answer and all redirects.':
    async () => {
      expect(capabilityOf('get "https://a.example/"').request.timeout).toBe(10_000);
      for (const [timeout, codes] of [
        ['1ms', []],
        ['15m', []],
        ['0ms', ['out-of-range']],
        ['901s', ['out-of-range']],
      ] as const)
        expect(codesOf(requestWith(`timeout ${timeout}`))).toEqual(codes);
      expect(await answerTo('timeout 100ms', redirectsForever)).toBe(
        'The server did not answer in time.',
      );
      expect(await answerTo('timeout 100ms', neverEnds)).toBe('The server did not answer in time.');
    },
  'A tool call ends with the run, so `run_time` may end a request before its `timeout`.':
    async () => {
      const run = new AbortController();
      const call = answerTo('timeout 15m', () => run.abort(new Error('The run is over.')), run);
      await expect(call).rejects.toThrow('The run is over.');
    },
  '`body` is `json`, `form` or `none`; the default is `json` for `post`, `put` and `patch`, and `none` for `get` and `delete`.':
    () => {
      const bodyOf = (request: string) => capabilityOf(request).request.body;
      for (const word of ['post', 'put', 'patch'])
        expect(bodyOf(`${word} "https://a.example/"`)).toBe('json');
      for (const word of ['get', 'delete'])
        expect(bodyOf(`${word} "https://a.example/"`)).toBe('none');
      for (const body of ['json', 'form', 'none'])
        expect(bodyOf(`post "https://a.example/" { body ${body} }`)).toBe(body);
      expect(codesOf(requestWith('body xml'))).toEqual(['syntax']);
    },
  'A `get` request has no body.': () => {
    expect(codesOf(requestWith('body none'))).toEqual([]);
    expect(codesOf(requestWith('body json'))).toEqual(['unexpected-body']);
    expect(codesOf(requestWith('body form'))).toEqual(['unexpected-body']);
  },
  '`query` names declared inputs, separated by commas.': () => {
    const withQuery = (query: string) =>
      `input { a string "x" b string "y" } post "https://a.example/" { query ${query} }`;
    expect(capabilityOf(withQuery('b, a')).request.query).toEqual(['b', 'a']);
    expect(codesOf(agentWithCapability(withQuery('a, c')))).toEqual(['unknown-input']);
    expect(codesOf(agentWithCapability(withQuery('a, a')))).toEqual(['duplicate-name']);
  },
  'A URL begins with `https://` or, with a warning, with `http://`, and holds no password.': () => {
    const get = (url: string) => agentWithCapability(`get "${url}"`);
    expect(codesOf(get('https://a.example:8443/b?c=d#e'))).toEqual([]);
    expect(codesOf(get('http://a.example'))).toEqual(['plain-http']);
    for (const url of ['ftp://a.example', '/b', 'a.example', 'https://', 'https://u:p@a.example'])
      expect(codesOf(get(url))).toEqual(['invalid-url']);
  },
  '`http://` to an address of the same machine that the operator allows for tools is no warning.':
    () => {
      const check = (url: string, ...allowedHosts: string[]) =>
        codesOf(agentWithCapability(`get "${url}"`), { allowedHosts });
      expect(check('http://127.0.0.1:8080/x', '127.0.0.1:8080')).toEqual([]);
      expect(check('http://LOCALHOST/x', 'Localhost:80')).toEqual([]);
      expect(check('http://[::1]:8080/x', '[::1]:8080')).toEqual([]);
      expect(check('http://127.0.0.1:8080/x', '127.0.0.1:80')).toEqual(['plain-http']);
      expect(check('http://127.0.0.1:8080/x')).toEqual(['plain-http']);
      expect(check('http://10.0.0.1:8080/x', '10.0.0.1:8080')).toEqual(['plain-http']);
      expect(check('http://127.0.0.1.example:80/x', '127.0.0.1.example:80')).toEqual([
        'plain-http',
      ]);
    },
  'A URL has at most 16384 characters.': () => {
    const get = (length: number) =>
      agentWithCapability(`get "${'https://a.example/'.padEnd(length, 'a')}"`);
    expect(codesOf(get(16_384))).toEqual([]);
    expect(codesOf(get(16_385))).toEqual(['invalid-url']);
  },
  'A header occurs at most once, regardless of case, and its value is one line.': () => {
    const get = (headers: string) => agentWithCapability(`get "https://a.example/" { ${headers} }`);
    expect(codesOf(get('header "A" "a" header "a" "b"'))).toEqual(['duplicate-name']);
    expect(codesOf(get('header "A" "a\\nb"'))).toEqual(['invalid-header']);
    expect(codesOf(get('header "A:" "a"'))).toEqual(['invalid-header']);
  },
  'A request or a server has at most 32 headers.': () => {
    const headers = (count: number) => `{ ${many(count, (index) => `header "H-${index}" "v"`)} }`;
    for (const settings of [
      (count: number) => agentWithCapability(`get "https://a.b/" ${headers(count)}`),
      (count: number) => agentWith(`  tools g mcp env.U ${headers(count)}`),
    ]) {
      expect(codesOf(settings(32))).toEqual([]);
      expect(codesOf(settings(33))).toEqual(['too-many']);
    }
  },
  '`tools NAME mcp` with a URL or `env.NAME` is a group with the tools of a server of the Model Context Protocol.':
    () => {
      const source = agentWith('  tools g mcp "https://a.example/mcp"\n  tools h mcp env.URL');
      expect(define(source).tools).toEqual([
        { type: 'mcp', name: 'g', url: 'https://a.example/mcp', headers: [] },
        { type: 'mcp', name: 'h', url: { env: 'URL' }, headers: [] },
      ]);
      expect(readDefinition(source).tools).toEqual(['g.*', 'h.*']);
    },
  "Its block may have headers, and `only` with the tools to offer; a tool's name that is not a name of this language is written in quotes.":
    () => {
      const source = agentWith('  tools g mcp env.URL { header "A" "a" only b, "c-d" }');
      expect(define(source).tools).toMatchObject([
        { headers: [{ name: 'A', value: ['a'] }], only: ['b', 'c-d'] },
      ]);
      expect(readDefinition(source).tools).toEqual(['g.b', 'g.c-d']);
      expect(codesOf(source.replaceAll('"c-d"', 'c-d'))).toEqual(['invalid-name']);
    },
  '`only` names at most 128 tools.': () => {
    const only = (count: number) =>
      agentWith(`  tools g mcp env.U { only ${many(count, (index) => `t${index}`, ', ')} }`);
    expect(codesOf(only(128))).toEqual([]);
    expect(codesOf(only(129))).toEqual(['too-many']);
  },
  '`tools time` is built in and has `time.now`; another name without a block is an error.': () => {
    expect(define(agentWith('  tools time')).tools).toEqual([{ type: 'builtin', name: 'time' }]);
    expect(readDefinition(agentWith('  tools time')).tools).toEqual(['time.now']);
    expect(codesOf(agentWith('  tools orders'))).toEqual(['unknown-group']);
  },
  'No group is called `memory`: the memory tools have that name.': () => {
    for (const rest of ['', ' { }', ' mcp env.URL'])
      expect(codesOf(agentWith(`  tools memory${rest}`))).toEqual(['reserved-name']);
  },
};
