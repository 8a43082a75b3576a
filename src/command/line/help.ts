import type { Style } from '../terminal/style.ts';
import { type Argument, type Command, GLOBAL_OPTIONS, GROUPS, type Option } from './definition.ts';

/** Rows of a name and its description. */
export type Rows = [name: string, description: string][];

/** The help of all commands. */
export function overview(commands: readonly Command[], style: Style): string {
  const groups = GROUPS.map((group) => {
    const rows: Rows = commands
      .filter((command) => command.group === group)
      .map((command) => [usageWords(command), command.summary]);
    return section(group, rows, style);
  });
  return [
    'Parley hosts conversational agents. This command deploys them, talks to them and shows their runs.',
    `${style.bold('Usage')}\n  parley COMMAND [OPTIONS]`,
    ...groups,
    section('Global options', optionRows(GLOBAL_OPTIONS), style),
    section('Environment', ENVIRONMENT, style),
    'Run parley COMMAND --help for the options and examples of a command.',
  ].join('\n\n');
}

/** The variables of the environment that the command reads. */
export const ENVIRONMENT: Rows = [
  ['PARLEY_API_KEY', 'The API key. It wins over the key of the profile.'],
  [
    'PARLEY_URL',
    'The origin of the server, such as https://bots.example. It wins over the profile.',
  ],
  ['PARLEY_PROFILE', 'The profile to use when --profile names none.'],
  ['NO_COLOR', 'No colours.'],
];

/** The help of one command. */
export function commandHelp(command: Command, commands: readonly Command[], style: Style): string {
  const subcommands: Rows = commands
    .filter(({ name }) => name.startsWith(`${command.name} `))
    .map((one) => [usageWords(one), one.summary]);
  const examples = command.examples.map(
    ({ line, description }) => `  ${style.dim(`# ${description}`)}\n  ${line}`,
  );
  return [
    command.summary,
    ...(command.details ?? []),
    `${style.bold('Usage')}\n  ${usageLine(command)}`,
    section('Arguments', argumentRows(command.arguments), style),
    section('Options', optionRows(command.options), style),
    section('Commands', subcommands, style),
    section('Global options', optionRows(GLOBAL_OPTIONS), style),
    `${style.bold('Examples')}\n${examples.join('\n')}`,
  ]
    .filter(Boolean)
    .join('\n\n');
}

/** The usage of a command, such as `parley format FILE… [OPTIONS]`. */
export function usageLine(command: Command): string {
  const options = Object.keys(command.options).length > 0 ? ' [OPTIONS]' : '';
  return `parley ${usageWords(command)}${options}`;
}

function usageWords({ name, arguments: all }: Command): string {
  return [name, ...Object.values(all).map(argumentWord)].join(' ');
}

function argumentWord({ placeholder, required, multiple }: Argument): string {
  const word = multiple ? `${placeholder}…` : placeholder;
  return required ? word : `[${word}]`;
}

export function argumentRows(all: Readonly<Record<string, Argument>>): Rows {
  return Object.values(all).map((argument) => [argument.placeholder, argument.description]);
}

export function optionRows(all: Readonly<Record<string, Option>>): Rows {
  return Object.entries(all).map(([name, option]) => {
    const short = option.short ? `-${option.short}, ` : '';
    const value = option.value ? ` ${option.value}` : '';
    const notes = [
      ...(option.choices ? [`One of ${option.choices.join(', ')}.`] : []),
      ...(option.multiple ? ['Can be repeated.'] : []),
    ];
    return [`${short}--${name}${value}`, [option.description, ...notes].join(' ')];
  });
}

function section(title: string, rows: Rows, style: Style): string {
  if (rows.length === 0) return '';
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.map(([name, description]) => `  ${name.padEnd(width)}  ${description}`);
  return `${style.bold(title)}\n${lines.join('\n')}`;
}
