/** A test case of another system, as a `test` block can express it. */
export type TestCase = {
  name: string | undefined;
  context: JsonRecord | undefined;
  /** The messages of the user. */
  turns: string[];
  /** What the reply to the last message must show. */
  expectations: { type: ReplyTest; text: string }[];
};

type ReplyTest = 'contains' | 'omits' | 'is' | 'judged';
type JsonRecord = Record<string, unknown>;
type Read = TestCase | { problem: string };

/** The assertions of promptfoo that a test has too. */
const ASSERTIONS: Partial<Record<string, ReplyTest>> = {
  contains: 'contains',
  icontains: 'contains',
  'not-contains': 'omits',
  'not-icontains': 'omits',
  equals: 'is',
  'llm-rubric': 'judged',
};
/** The names of the variable with the message, in order of preference. */
const MESSAGE_NAMES = ['input', 'message', 'question', 'prompt', 'query'];

/** Reads a line as a test case. */
export function readTestCase(line: string): Read {
  const value = parse(line);
  if (!isRecord(value)) return { problem: 'is no JSON object.' };
  if (isRecord(value.vars)) return fromPromptfoo(value, value.vars);
  if (value.input !== undefined) return fromPair(value);
  return { problem: 'has neither "input" nor "vars".' };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** `input` with `expected`, or OpenAI Evals' `input` with `ideal`. */
function fromPair({ name, input, expected, ideal, context }: JsonRecord): Read {
  const turns = messagesOf(input);
  if (turns.length === 0)
    return { problem: '"input" is neither a text nor a list with a message of the role "user".' };
  const answers = [expected ?? ideal ?? []].flat();
  if (!answers.every((one) => typeof one === 'string'))
    return { problem: '"expected" or "ideal" is neither a text nor a list of texts.' };
  if (context !== undefined && !isRecord(context)) return { problem: '"context" is no object.' };
  return { name: textOf(name), context, turns, expectations: expectationsOf(answers) };
}

function messagesOf(input: unknown): string[] {
  if (typeof input === 'string') return [input];
  const messages = Array.isArray(input) ? input.filter(isRecord) : [];
  return messages.flatMap(({ role, content }) =>
    role === 'user' && typeof content === 'string' ? [content] : [],
  );
}

function expectationsOf(answers: readonly string[]): TestCase['expectations'] {
  const [first] = answers;
  if (first === undefined) return [];
  if (answers.length === 1) return [{ type: 'contains', text: first }];
  return [{ type: 'judged', text: `It says one of these: ${answers.join('; ')}` }];
}

/** promptfoo's `vars` with `assert`. The variables beside the message are the context. */
function fromPromptfoo({ description, assert = [] }: JsonRecord, vars: JsonRecord): Read {
  const names = Object.keys(vars);
  const name = names.length === 1 ? names[0] : MESSAGE_NAMES.find((one) => one in vars);
  const message = name === undefined ? undefined : vars[name];
  if (name === undefined || typeof message !== 'string')
    return { problem: `"vars" has no message: name it ${MESSAGE_NAMES.join(', ')}.` };
  if (!Array.isArray(assert)) return { problem: '"assert" is no list.' };
  const expectations: TestCase['expectations'] = [];
  for (const one of assert.filter(isRecord)) {
    const type = ASSERTIONS[String(one.type)];
    if (type === undefined || typeof one.value !== 'string')
      return { problem: `has the assertion "${one.type}", which no test has.` };
    expectations.push({ type, text: one.value });
  }
  const { [name]: _, ...others } = vars;
  const context = names.length > 1 ? others : undefined;
  return { name: textOf(description), context, turns: [message], expectations };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
