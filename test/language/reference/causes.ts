import { agentWith, agentWithCapability, agentWithPrompt, inModel, many } from '../helpers.ts';

const SECRET = 'sk-proj-0123456789abcdefghijklmnop';

const inGroup = (text: string) => agentWith(`tools g { ${text} }`);
const inInput = (fields: string) =>
  agentWithCapability(`input { a string "x" ${fields} } get "https://a.example/"`);
const get = (settings: string) => agentWithCapability(`get "https://a.example/" { ${settings} }`);
const inServer = (settings: string) => agentWith(`tools g mcp env.U { ${settings} }`);

const inTest = (parts: string) => agentWith(`tools time test "t" { ${parts} }`);

/** The variables of a deployment of a source: each variable that it names but `UNSET`, and one more. */
export function deployedNames(source: string): string[] {
  const names = [...source.matchAll(/\benv\.(\w+)/g)].map(([, name = '']) => name);
  return [...names.filter((name) => name !== 'UNSET'), 'UNUSED'];
}

/** The mistakes of each section of the reference. Together they have the codes that the section names. */
export const CAUSES: Record<string, string[]> = {
  Files: [
    '#'.repeat(262_145),
    agentWith('# \u0000'),
    'agent "A" { description "d" prompt "p" }',
    'agentlang 4 agent "A" { prompt "p" }',
    agentWith('history 5'),
    agentWith('memory {'),
    agentWith('}'),
    agentWith('colour "red"'),
    agentWith('history none history none'),
  ],
  Values: [
    agentWithPrompt('"p'),
    agentWithPrompt('"\\q"'),
    agentWith('memory { 1a }'),
    agentWithPrompt('""'),
    inGroup(
      many(201, (index) => `capability c${index} "d" { get "https://a.b/{{ env.E${index} }}" }`),
    ),
    inModel('timeout 5w'),
    inServer(`header "A" "{{ env.SET }}{{ env.UNSET }}"`),
    agentWithPrompt(`"${SECRET}"`),
  ],
  agent: [
    'agentlang 5 agent "A" { }',
    agentWithPrompt('" "'),
    agentWith('').replace('"A"', `"${'a'.repeat(201)}"`),
    agentWith('history last 501 messages'),
    agentWithPrompt(`"${'a'.repeat(16_385)}"`),
  ],
  model: [
    inModel('temperature 3'),
    inModel('fallback "a", "b", "c", "d"'),
    inModel('fallback "a", "a"'),
    inModel(`parameter "${'a'.repeat(129)}" 1`),
    inModel('parameter "messages" 1'),
    inModel('base_url "a.example"'),
    agentWith('model ""'),
    agentWith('model "gpt-4o-mini"'),
    inModel('base_url "http://a.example/v1"'),
    inModel('base_url "https://10.0.0.1/v1"'),
  ],
  memory: [
    agentWith('memory { 1a }'),
    agentWith('memory { a a }'),
    agentWith('memory { a "" }'),
    agentWith(`memory { ${many(65, (index) => `f${index}`)} }`),
  ],
  output: [
    agentWith('output { 1a string }'),
    agentWith('output { a string a string }'),
    agentWith('output { a date }'),
    agentWith('output { a string "" }'),
    agentWith(`output { ${many(65, (index) => `f${index} string`)} }`),
  ],
  limits: [agentWith('limits { tool_calls 65 }')],
  channel: [
    agentWith('channel sms'),
    agentWith('channel web channel web'),
    agentWith('channel telegram'),
    agentWith('channel telegram { token env.T approvers "ada" }'),
    agentWith('channel web { accent "red" }'),
    agentWith('channel web { accent "#ffee00" }'),
    agentWith('channel web { welcome "" }'),
    agentWith(`channel web { welcome "${'w'.repeat(2_001)}" }`),
    agentWith(`channel web { suggestions ${many(9, (index) => `"s${index}"`, ', ')} }`),
  ],
  tools: [
    agentWith('tools orders'),
    agentWith('tools memory mcp env.U'),
    agentWith('tools g mcp env.U tools g mcp env.U'),
    agentWith('tools 1g mcp env.U'),
    agentWith(many(17, (index) => `tools g${index} mcp env.U`)),
  ],
  capability: [
    agentWithCapability(''),
    agentWithCapability('get "https://a.example/" get "https://a.example/"'),
    agentWithCapability('get "https://a.example/" input { a string "x" }'),
    inGroup(many(2, () => 'capability c "d" { get "https://a.example/" }')),
    inGroup('capability c "" { get "https://a.example/" }'),
    agentWithCapability('input { a string } get "https://a.example/"'),
    agentWithCapability('reads get "https://a.example/"'),
    agentWithCapability(`label "${'l'.repeat(61)}" get "https://a.example/"`),
  ],
  approval: [
    agentWithCapability('approval { expires 8d } post "https://a.example/"'),
    agentWithCapability('approval approval post "https://a.example/"'),
    agentWithCapability('approval "" post "https://a.example/"'),
    agentWithCapability(`approval "${'s'.repeat(501)}" post "https://a.example/"`),
    inServer('approval a, a'),
    inServer('approval a, all'),
    inServer('approval "A merge goes live."'),
    inServer('only a approval b'),
    inServer('approval { expires 2h }'),
    inServer(`approval ${many(129, (index) => `t${index}`, ', ')}`),
  ],
  input: [
    inInput('b date'),
    inInput('1b string'),
    inInput('a string'),
    inInput('b string ""'),
    inInput(many(64, (index) => `f${index} string`)),
  ],
  request: [
    agentWithCapability('get "a.example"'),
    get('header "A:" "a"'),
    get('header "A" "a" header "a" "b"'),
    get('body json'),
    get('query a'),
    get('timeout 16m'),
    get(many(33, (index) => `header "H${index}" "v"`)),
    agentWithCapability('get "http://a.example/"'),
    agentWithCapability('get "https://10.0.0.1/"'),
    get(`header "A" "${SECRET}"`),
  ],
  mcp: [
    inServer(`label a "${'l'.repeat(61)}"`),
    agentWith('tools g mcp "a.example"'),
    inServer('header "A:" "a"'),
    inServer('only c-d'),
    inServer('only a, a'),
    inServer('only ""'),
    inServer('reads all'),
    inServer('only a reads b'),
    inServer('reads a repeatable a'),
    inServer(`only ${many(129, (index) => `t${index}`, ', ')}`),
    agentWith('tools g mcp "http://a.example/mcp"'),
    agentWith('tools g mcp "https://10.0.0.1/mcp"'),
    inServer(`header "A" "${SECRET}"`),
  ],
  test: [
    inTest('expect no call user "a"'),
    inTest('user "a" context "{}"'),
    inTest('expect no call').replace('expect no call', ''),
    inTest('user "a" expect output "{}"'),
    inTest('user "a" expect call time.now "{"'),
    inTest('user "a" expect call time.then'),
    inTest('memory { city "Oslo" } user "a"'),
    inTest('user "a" expect reply contain "b"'),
    inTest('user "a" greet "b"'),
    inTest('context "{}" context "{}" user "a"'),
    inTest('user "a" expect reply is ""'),
    inTest('user "a" expect tokens below 0'),
    inTest(many(21, () => 'user "a"')),
    inTest('user "a" } test "t" { user "a"'),
    inTest('user "a"').replace('"t"', `"${'t'.repeat(201)}"`),
    inTest(`user "${SECRET}"`),
  ],
  Templates: [
    agentWithPrompt('"{{ }}"'),
    agentWithPrompt('"{{ user.name }}"'),
    agentWithPrompt('"{{ memory.name }}"'),
    agentWithCapability('get "https://a.example/{{ input.a }}"'),
    agentWithPrompt('"{{ env.KEY }}"'),
    agentWithPrompt(`"${'{{now}}'.repeat(1_001)}"`),
    agentWith('tools g mcp "https://{{ env.HOST }}/"'),
  ],
};
