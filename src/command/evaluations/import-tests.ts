import { readSource } from '../../language/read.ts';
import { writeTest } from '../../language/test-block.ts';
import type { Context } from '../context.ts';
import { readSourceFile } from '../definitions/source-file.ts';
import { EXIT, Refusal } from '../errors.ts';
import { readTestCase, type TestCase } from './test-case.ts';

/** The file could not be read as test cases. The command exits with 2. */
class CannotImport extends Refusal {
  override readonly exitCode = EXIT.usage;
}

/** Problems that the message lists. */
const MAX_PROBLEMS = 20;
const MAX_TESTS = 100;

/**
 * Writes the test cases of a file of JSON lines as `test` blocks.
 *
 * @throws Refusal with the number of each line that is no test case.
 */
export async function importTests(path: string, { terminal, print }: Context): Promise<void> {
  const { name, text } = await readSourceFile(path, terminal.stdin);
  const problems: string[] = [];
  const cases: TestCase[] = [];
  for (const [index, line] of text
    .replace(/^\u{FEFF}/u, '')
    .split('\n')
    .entries()) {
    if (line.trim() === '') continue;
    const read = readTestCase(line);
    if ('problem' in read) problems.push(`${name}:${index + 1} ${read.problem}`);
    else cases.push(read);
  }
  if (cases.length > MAX_TESTS)
    problems.push(
      `${name} has ${cases.length} test cases; a definition has at most ${MAX_TESTS} tests.`,
    );
  if (cases.length === 0 && problems.length === 0) problems.push(`${name} has no test cases.`);
  if (problems.length > 0) throw new CannotImport(listed(problems));
  const names = uniqueNames(cases);
  const blocks = cases.map((one, index) => writeTest({ ...one, name: names[index] ?? '' }));
  assertValid(blocks);
  await print(cases, () => blocks.join('\n\n'));
}

function listed(problems: readonly string[]): string {
  const more = problems.length - MAX_PROBLEMS;
  return [...problems.slice(0, MAX_PROBLEMS), ...(more > 0 ? [`${more} more`] : [])].join('\n');
}

/** A name for each case that no other case has. */
function uniqueNames(cases: readonly TestCase[]): string[] {
  const used = new Set<string>();
  return cases.map(({ name, turns }, index) => {
    const given = (name ?? turns[0] ?? '')
      .replaceAll(/\s+/g, ' ')
      .trim()
      .slice(0, 80)
      .toWellFormed();
    const base = given || `case ${index + 1}`;
    let unique = base;
    for (let count = 2; used.has(unique); count += 1) unique = `${base} (${count})`;
    used.add(unique);
    return unique;
  });
}

/** @throws Refusal if a text is too long for a test, or if the blocks together are too long. */
function assertValid(blocks: readonly string[]): void {
  const source = `agentlang 5\nagent "A" {\n  description "d"\n  prompt "p"\n${blocks.join('\n')}\n}\n`;
  const { definition, diagnose } = readSource(source);
  if (definition !== null) return;
  const errors = diagnose().filter(({ severity }) => severity === 'ERROR');
  throw new CannotImport(
    listed(errors.map(({ message }) => `The tests are not valid: ${message}.`)),
  );
}
