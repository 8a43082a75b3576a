import type { AttackContext, Attacks } from '../attack.ts';
import { botPath, json } from '../attack.ts';

/** Checks a source over GraphQL, or deploys it over REST. */
async function submit(
  { account, graphql, sendWithKey, random }: AttackContext,
  members: string,
  envVars: Record<string, string> = {},
) {
  const source = `agentlang 5\nagent "Hostile" {\n  prompt "x"\n${members}\n}\n`.slice(0, 262_000);
  const check =
    'query ($source: String!) { checkDefinition(source: $source) { valid diagnostics { message } } }';
  const ways = [
    () => graphql(check, { source }),
    () =>
      sendWithKey({
        method: 'POST',
        path: botPath(account.mcpBot, 'deploy'),
        headers: json,
        body: { agentlang: source, environment: 'staging', env_vars: envVars },
      }),
  ] as const;
  await random.pick(ways)();
}

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');

/** Definitions that are expensive to parse, and variables that are expensive to redact. */
export const definitionAttacks: Attacks = {
  'names that nearly match': (context) => {
    const count = context.random.int(100, 2_800);
    const facts = lines(count, (index) => `fact_number_${index}_of_many`);
    const wrong = lines(count, (index) => `{{ memory.fakt_numbr_${index}_off_meny }}`);
    return submit(context, `memory {\n${facts}\n}\ndescription "${wrong.replaceAll('\n', ' ')}"`);
  },
  'settings that nearly match': (context) =>
    submit(context, `model "m" {\n${lines(10_000, (index) => `temprature${index} 1`)}\n}`),
  'very many templates': (context) =>
    submit(
      context,
      `description "${'{{ context.a ?? "b" }}'.repeat(context.random.int(10, 11_000))}"`,
    ),
  'blocks without an end': (context) =>
    submit(context, 'tools a { capability b "c" { input { '.repeat(context.random.int(10, 6_000))),
  'long words': (context) => submit(context, 'x'.repeat(context.random.int(1_000, 260_000))),
  'many duplicates': (context) =>
    submit(
      context,
      lines(8_000, () => 'channel web { welcome "Hello" }'),
    ),
  'strings that look like secrets': (context) =>
    submit(context, `description "${'sk-aB3'.repeat(context.random.int(10, 30_000))}"`),
  'large variables': (context) =>
    submit(context, 'channel web', {
      A: '(a+)+$'.repeat(context.random.int(100, 8_000)),
      B: 'b'.repeat(context.random.int(8, 60_000)),
    }),
  'very many variables': (context) =>
    submit(
      context,
      'channel web',
      Object.fromEntries(
        Array.from({ length: 5_000 }, (_, index) => [`V${index}`, 'value'.repeat(3)]),
      ),
    ),
};
