import type { Context } from '../context.ts';

/** An option of a command. Without `value` it is a flag. */
export type Option = {
  /** The placeholder of the value in the help, such as `ID`. */
  value?: string;
  short?: string;
  /** The values that the option accepts. Completion offers them. */
  choices?: readonly string[];
  /** Whether the option may be repeated. */
  multiple?: true;
  /** Whether the value is the path of a file. Completion then offers files. */
  isFile?: true;
  description: string;
};

/** A positional argument. Its key in the definition is the name that the action reads. */
export type Argument = {
  /** The placeholder in the help, such as `FILE`. */
  placeholder: string;
  required?: true;
  /** Whether the argument takes all remaining words. Only the last argument may. */
  multiple?: true;
  choices?: readonly string[];
  isFile?: true;
  description: string;
};

export type Example = { line: string; description: string };

/** The values of a command line, by the names in the definition. */
export type Input<Name extends string = string> = {
  /** The value of an option or argument. */
  text(name: Name): string | undefined;
  /** The value of a required argument. */
  required(name: Name): string;
  /** All values of a repeatable option or argument. */
  texts(name: Name): readonly string[];
  flag(name: Name): boolean;
  /** The value of an option as one of its choices. */
  choice<Choice extends string>(name: Name, choices: readonly Choice[]): Choice | undefined;
};

/** A command: parsing, help, completion and docs/command.md are derived from its definition. */
export type Command = {
  /** The words that select it, such as `bots create`. */
  name: string;
  group: Group;
  /** One line for lists of commands. */
  summary: string;
  /** Further paragraphs of the help. */
  details?: readonly string[];
  arguments: Readonly<Record<string, Argument>>;
  options: Readonly<Record<string, Option>>;
  examples: readonly Example[];
  run(input: Input, context: Context): Promise<void>;
};

/** The headings of `parley --help`, in their order. */
export const GROUPS = [
  'Server',
  'Account',
  'Definitions',
  'Deployments',
  'Conversations',
  'Runs',
  'Approvals',
  'Shell',
] as const;

export type Group = (typeof GROUPS)[number];

/** Checks that the action of a command reads only the options and arguments of its definition. */
export function command<ArgumentName extends string = never, OptionName extends string = never>(
  definition: Omit<Command, 'arguments' | 'options' | 'run'> & {
    arguments?: Readonly<Record<ArgumentName, Argument>>;
    options?: Readonly<Record<OptionName, Option>>;
    run(input: Input<ArgumentName | OptionName>, context: Context): Promise<void>;
  },
): Command {
  return {
    ...definition,
    arguments: definition.arguments ?? {},
    options: definition.options ?? {},
  };
}

/** Options that every command has. */
export const GLOBAL_OPTIONS = {
  json: { description: 'Print JSON: one value, or one line for each event of a stream.' },
  profile: { value: 'NAME', description: 'Use the key and server of this profile.' },
  debug: { description: 'Log each request to stderr: method, path, status and duration.' },
  help: { short: 'h', description: 'Show the help of the command.' },
  version: { short: 'V', description: 'Show the version of the command.' },
} as const satisfies Record<string, Option>;
