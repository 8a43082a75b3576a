import { type Command, GLOBAL_OPTIONS, type Option } from './definition.ts';
import type { Shell } from './shells.ts';

/** A script that completes commands, options, choices and files in a shell. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  switch (shell) {
    case 'bash':
      return bash(commands);
    case 'zsh':
      return zsh(commands);
    case 'fish':
      return fish(commands);
  }
}

type Entry = {
  words: string;
  /** The next words, options and choices of arguments. */
  candidates: string[];
};

/** The possible next words after each command, and after each group of commands. */
function entries(commands: readonly Command[]): Entry[] {
  const first = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? name))];
  const global = Object.keys(GLOBAL_OPTIONS).map((name) => `--${name}`);
  const of = (words: string) => commands.filter(({ name }) => name === words);
  const all = [...new Set([...first, ...commands.map(({ name }) => name)])];
  return [
    { words: '', candidates: [...first, ...global] },
    ...all.map((words) => ({
      words,
      candidates: [
        ...commands.flatMap(({ name }) =>
          name.startsWith(`${words} `) ? [name.slice(words.length + 1)] : [],
        ),
        ...of(words).flatMap((command) =>
          Object.values(command.arguments).flatMap(({ choices = [] }) => choices),
        ),
        ...of(words).flatMap(({ options }) => Object.keys(options).map((name) => `--${name}`)),
        ...global,
      ],
    })),
  ];
}

type Group = Pick<Command, 'name' | 'summary' | 'arguments' | 'options'> & {
  /** The commands of two words that begin with the name. */
  below: Command[];
};

/** The commands by their first word, with the options of all of them. */
function groups(commands: readonly Command[]): Group[] {
  const names = new Set(commands.map(({ name }) => name.split(' ')[0] ?? name));
  return [...names].map((name) => {
    const own = commands.filter((command) => command.name === name);
    const below = commands.filter((command) => command.name.startsWith(`${name} `));
    const all = [...own, ...below];
    return {
      name,
      summary: all[0]?.summary ?? '',
      arguments: own[0]?.arguments ?? {},
      options: Object.fromEntries(all.flatMap(({ options }) => Object.entries(options))),
      below,
    };
  });
}

/** The choices of an option, and the commands that offer them. */
type Choices = { option: string; choices: readonly string[]; commands: string[] };

/** The options with choices of all commands. Options of one name may have other choices in another command. */
function choiceOptions(commands: readonly Command[]): Choices[] {
  const found = new Map<string, Choices>();
  for (const { name, options } of commands)
    for (const [option, { choices }] of Object.entries(options)) {
      if (!choices) continue;
      const key = [option, ...choices].join(' ');
      const known = found.get(key) ?? { option, choices, commands: [] };
      known.commands.push(name);
      found.set(key, known);
    }
  return [...found.values()];
}

/** The options of all commands that a value follows. */
function valueOptions(commands: readonly Command[]): string[] {
  const options = [...commands.map(({ options }) => options), GLOBAL_OPTIONS].flatMap(
    Object.entries<Option>,
  );
  const names = options.flatMap(([name, { value, short }]) =>
    value ? [`--${name}`, ...(short ? [`-${short}`] : [])] : [],
  );
  return [...new Set(names)];
}

function bash(commands: readonly Command[]): string {
  // The longest words first, because the first match wins.
  const sorted = entries(commands).sort((a, b) => b.words.length - a.words.length);
  const cases = sorted.map(({ words, candidates }) => {
    const pattern = words === '' ? '*' : `'${words}'|'${words} '*`;
    return `    ${pattern}) candidates='${candidates.join(' ')}' ;;`;
  });
  const all = choiceOptions(commands);
  const choices = all.map(({ option, choices: values, commands: names }) => {
    const isOnly = all.filter((other) => other.option === option).length === 1;
    const patterns = isOnly
      ? [`*:--${option}`]
      : names.flatMap((name) => [`'${name}:--${option}'`, `'${name} '*:--${option}`]);
    return `    ${patterns.join('|')}) COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$current")); return ;;`;
  });
  return `# Completion of parley for bash. Add to ~/.bashrc: source <(parley completion bash)
_parley() {
  local current="\${COMP_WORDS[COMP_CWORD]}" option="\${COMP_WORDS[COMP_CWORD-1]}" previous='' words='' word candidates
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$previous" in
      ${valueOptions(commands).join('|')}) ;;
      *) case "$word" in -*) ;; *) words="\${words:+$words }$word" ;; esac ;;
    esac
    previous="$word"
  done
  case "$words:$option" in
${choices.join('\n')}
  esac
  case "$words" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _parley parley
`;
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function zsh(commands: readonly Command[]): string {
  const all = groups(commands);
  const list = all.map(({ name, summary }) => `    ${quoted(`${name}:${escapeColon(summary)}`)}`);
  const cases = all.map((group) => {
    const specs = Object.entries<Option>({ ...group.options, ...GLOBAL_OPTIONS }).map(
      ([name, option]) => `        ${quoted(zshOption(name, option))}`,
    );
    const words = [
      ...group.below.map(({ name }) => name.split(' ')[1] ?? ''),
      ...Object.values(group.arguments).flatMap(({ choices = [] }) => choices),
    ];
    const positional = words.length > 0 ? `'*:: :(${words.join(' ')})'` : `'*:file:_files'`;
    return `      ${group.name})\n        _arguments \\\n${specs.join(' \\\n')} \\\n        ${positional} ;;`;
  });
  return `#compdef parley
# Completion of parley for zsh. Add to ~/.zshrc, after compinit: source <(parley completion zsh)
_parley() {
  local -a commands
  commands=(
${list.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local name="\${words[2]}"
  shift words
  (( CURRENT-- ))
  case "$name" in
${cases.join('\n')}
  esac
}
compdef _parley parley
`;
}

function zshOption(name: string, option: Option): string {
  const description = option.description.replaceAll(/[[\]]/g, '');
  if (option.value === undefined) return `--${name}[${description}]`;
  const action = option.choices ? `(${option.choices.join(' ')})` : option.isFile ? '_files' : '';
  return `${option.multiple ? '*' : ''}--${name}[${description}]:${option.value}:${action}`;
}

const escapeColon = (text: string) => text.replaceAll(':', '\\:');

function fish(commands: readonly Command[]): string {
  const all = groups(commands);
  const lines = all.map(
    ({ name, summary }) =>
      `complete -c parley -f -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
  );
  const below = commands.flatMap(({ name, summary }) => {
    const [first = '', second] = name.split(' ');
    return second
      ? [
          `complete -c parley -f -n '__fish_seen_subcommand_from ${first}' -a ${second} -d ${quoted(summary)}`,
        ]
      : [];
  });
  const choices = all.flatMap((group) =>
    Object.values(group.arguments).flatMap(({ choices: values }) =>
      values
        ? [
            `complete -c parley -f -n '__fish_seen_subcommand_from ${group.name}' -a ${quoted(values.join(' '))}`,
          ]
        : [],
    ),
  );
  const options = all.flatMap((group) =>
    Object.entries(group.options).map(([name, option]) => fishOption(name, option, group.name)),
  );
  const global = Object.entries(GLOBAL_OPTIONS).map(([name, option]) => fishOption(name, option));
  return [
    '# Completion of parley for fish. Write it to ~/.config/fish/completions/parley.fish',
    ...lines,
    ...below,
    ...choices,
    ...options,
    ...global,
    '',
  ].join('\n');
}

function fishOption(name: string, option: Option, command?: string): string {
  const condition = command ? ` -n '__fish_seen_subcommand_from ${command}'` : '';
  const value = option.choices
    ? ` -x -a ${quoted(option.choices.join(' '))}`
    : option.isFile
      ? ' -r'
      : option.value
        ? ' -x'
        : '';
  return `complete -c parley${condition} -l ${name}${value} -d ${quoted(option.description)}`;
}
