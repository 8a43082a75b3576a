/** What a written test says. */
export type TestBlock = {
  name: string;
  context?: object | undefined;
  /** The messages of the user. The parts below belong to the last one. */
  turns: readonly string[];
  /** Tool calls in order: each is expected, and has the answer of the tool. */
  calls?: readonly {
    /** `<group>.<capability>` */
    name: string;
    arguments: object;
    result: string;
    failed: boolean;
  }[];
  /** What the reply must show. */
  expectations: readonly { type: 'contains' | 'omits' | 'is' | 'judged'; text: string }[];
};

/** Writes a test as a block, indented for an agent. */
export function writeTest({ name, context, turns, calls = [], expectations }: TestBlock): string {
  const lines = [
    ...(context ? [`context ${written(JSON.stringify(context))}`] : []),
    ...turns.map((message) => `user ${written(message)}`),
    ...calls.map(
      ({ name: tool, result, failed }) =>
        `tool ${tool} ${failed ? 'fails' : 'returns'} ${written(result)}`,
    ),
    ...calls.map((call) => `expect call ${call.name} ${written(JSON.stringify(call.arguments))}`),
    ...expectations.map(({ type, text }) => `expect reply ${type} ${written(text)}`),
  ];
  return [`  test ${written(name)} {`, ...lines.map((one) => `    ${one}`), '  }'].join('\n');
}

/** A written test under a name that no test of the source has: a number is added to a name that is taken. */
export function withFreeName(source: string, test: string): string {
  const [head = '', name = ''] = /^ *test "((?:[^"\\]|\\.)*)"/.exec(test) ?? [];
  const isTaken = (candidate: string) => source.includes(`test "${candidate}"`);
  if (!isTaken(name)) return test;
  let number = 2;
  while (isTaken(`${name} (${number})`)) number += 1;
  return `  test "${name} (${number})"${test.slice(head.length)}`;
}

/** Adds a written test at the end of the agent in a source. */
export function withTest(source: string, test: string): string {
  const end = source.lastIndexOf('}');
  if (end === -1) return `${source}\n${test}\n`;
  return `${source.slice(0, end).trimEnd()}\n\n${test}\n${source.slice(end)}`;
}

/** A string of the language. */
function written(text: string): string {
  const escaped = text
    .toWellFormed()
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replaceAll('{{', '\\{{')
    .replaceAll(
      /[\p{Cc}\p{Cf}]/gu,
      (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
    );
  return `"${escaped}"`;
}
