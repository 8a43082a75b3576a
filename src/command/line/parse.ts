import { parseArgs } from 'node:util';
import { UsageError } from '../errors.ts';
import { type Command, GLOBAL_OPTIONS, type Input, type Option } from './definition.ts';
import { didYouMean } from './nearest.ts';

/** The request of a command line. */
export type ParsedLine =
  | { asks: 'version' }
  /** @property command none: the help of all commands. */
  | { asks: 'help'; command: Command | undefined }
  | { asks: 'run'; command: Command; input: Input };

type Values = Map<string, string[]>;

/**
 * Parses a command line by the table of commands. Options may stand before and after the words of a command.
 *
 * @throws UsageError with a line for each problem. It suggests the nearest command, option or value.
 */
export function parseLine(line: readonly string[], commands: readonly Command[]): ParsedLine {
  const { positionals, options } = split(line, commands);
  const [first = ''] = positionals;
  const isHelp = first === 'help';
  const words = isHelp ? positionals.slice(1) : positionals;
  const command = findCommand(words, commands);
  const names = command ? Object.keys(command.options) : allOptionNames(commands);
  const unknown = unknownOptions(options, names, command);
  const has = (option: string) => options.some(({ name }) => name === option);
  const asksHelp = isHelp || has('help');
  if (command === undefined || asksHelp || has('version')) refuse(unknown);
  if (has('version')) return { asks: 'version' };
  if (command === undefined) {
    if (words.length > 0) throw unknownCommand(words, commands);
    if (options.some(({ name }) => name !== 'help') && !asksHelp)
      throw new UsageError('No command is given. Run parley --help for the list of commands.');
    return { asks: 'help', command: undefined };
  }
  const rest = words.slice(command.name.split(' ').length);
  const subcommands = commands.filter(({ name }) => name.startsWith(`${command.name} `));
  const takesArguments = Object.keys(command.arguments).length > 0;
  if (rest.length > 0 && !takesArguments && subcommands.length > 0)
    throw unknownCommand(words, subcommands);
  if (asksHelp) return { asks: 'help', command };
  const values: Values = new Map();
  refuse([
    ...unknown,
    ...readOptions(options, command, values),
    // A word after an unknown option may be its value.
    ...(unknown.length === 0 ? readArguments(rest, command, values) : []),
  ]);
  return { asks: 'run', command, input: inputOf(values) };
}

type GivenOption = { name: string; rawName: string; value: string | undefined; isInline: boolean };

/** Separates the options from the other words, by the types of all commands' options. */
function split(line: readonly string[], commands: readonly Command[]) {
  const known = new Map(optionsOf(commands));
  const { tokens } = parseArgs({
    args: [...line],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: Object.fromEntries(
      [...known].map(([name, { value, short }]) => [
        name,
        { type: value ? 'string' : 'boolean', ...(short && { short }) } as const,
      ]),
    ),
  });
  const positionals: string[] = [];
  const options: GivenOption[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind === 'option') {
      const { name, rawName, value, inlineValue } = token;
      options.push({ name, rawName, value, isInline: inlineValue ?? false });
    }
  }
  return { positionals, options };
}

function optionsOf(commands: readonly Command[]): [string, Option][] {
  return [
    ...Object.entries(GLOBAL_OPTIONS),
    ...commands.flatMap(({ options }) => Object.entries(options)),
  ];
}

const allOptionNames = (commands: readonly Command[]) => [
  ...new Set(optionsOf(commands).map(([name]) => name)),
];

/** The command whose words are the longest beginning of the given words. */
function findCommand(words: readonly string[], commands: readonly Command[]): Command | undefined {
  const two = words.slice(0, 2).join(' ');
  return (
    commands.find(({ name }) => name === two) ?? commands.find(({ name }) => name === words[0])
  );
}

function unknownCommand(words: readonly string[], commands: readonly Command[]): UsageError {
  const [first = '', second = ''] = words;
  const names = commands.map(({ name }) => name);
  const parts = names[0]?.includes(' ') ? 2 : 1;
  const word = parts === 2 ? `${first} ${second}` : first;
  const similar = names.filter((name) => name.split(' ').length === parts);
  return new UsageError(
    `Unknown command "${word}".${didYouMean(word, similar)} Run parley --help for the list of commands.`,
  );
}

/** @throws UsageError if there are problems. */
function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new UsageError([...new Set(problems)].join('\n'));
}

function unknownOptions(
  given: readonly GivenOption[],
  names: readonly string[],
  command: Command | undefined,
): string[] {
  const known = [...names, ...Object.keys(GLOBAL_OPTIONS)];
  const longNames = known.map((name) => `--${name}`);
  const place = command ? `parley ${command.name}` : 'parley';
  return given
    .filter(({ name }) => !known.includes(name))
    .map(({ name, rawName }) => {
      const suggestion = name.length > 1 ? didYouMean(`--${name}`, longNames) : '';
      return `Unknown option ${rawName}.${suggestion} Run ${place} --help for its options.`;
    });
}

/** Adds the values of the options. @returns the problems. */
function readOptions(given: readonly GivenOption[], command: Command, values: Values): string[] {
  const all: Record<string, Option> = { ...command.options, ...GLOBAL_OPTIONS };
  return given.flatMap((one) => {
    const { name, value = '' } = one;
    const option = all[name];
    if (!option) return [];
    const problems = problemsOf(one, option, values.has(name));
    values.set(name, [...(values.get(name) ?? []), value]);
    return problems;
  });
}

function problemsOf(
  { rawName, value, isInline }: GivenOption,
  option: Option,
  isRepeated: boolean,
): string[] {
  if (option.value === undefined) return isInline ? [`${rawName} takes no value.`] : [];
  if (value === undefined || (!isInline && value.startsWith('-') && value !== '-')) {
    const inline = value === undefined ? '' : ` Write ${rawName}=${value} if that is its value.`;
    return [`${rawName} needs a value: ${rawName} ${option.value}.${inline}`];
  }
  const repeated =
    isRepeated && !option.multiple ? [`${rawName} is given twice. Give it once.`] : [];
  return [...choiceProblems(rawName, value, option.choices), ...repeated];
}

/** Adds the values of the arguments. @returns the problems. */
function readArguments(words: readonly string[], command: Command, values: Values): string[] {
  const problems: string[] = [];
  const rest = [...words];
  for (const [name, { placeholder, required, multiple, choices }] of Object.entries(
    command.arguments,
  )) {
    const taken = multiple ? rest.splice(0) : rest.splice(0, 1);
    if (required && taken.length === 0)
      problems.push(
        `parley ${command.name} needs ${placeholder}. Run parley ${command.name} --help for examples.`,
      );
    for (const word of taken) problems.push(...choiceProblems(placeholder, word, choices));
    if (taken.length > 0) values.set(name, taken);
  }
  if (rest.length > 0)
    problems.push(
      `parley ${command.name} does not take "${rest[0]}". Run parley ${command.name} --help for its arguments.`,
    );
  return problems;
}

function choiceProblems(
  name: string,
  value: string,
  choices: readonly string[] | undefined,
): string[] {
  if (!choices || choices.includes(value)) return [];
  return [
    `${name} cannot be "${value}".${didYouMean(value, choices)} Its values are ${choices.join(', ')}.`,
  ];
}

function inputOf(values: Values): Input {
  const text = (name: string) => values.get(name)?.[0];
  return {
    text,
    texts: (name) => values.get(name) ?? [],
    flag: (name) => values.has(name),
    choice: (name, choices) => choices.find((choice) => choice === text(name)),
    required(name) {
      const value = text(name);
      if (value === undefined) throw new UsageError(`${name} is missing.`);
      return value;
    },
  };
}
