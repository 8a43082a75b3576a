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

/** The options with choices of all commands. Options of one name have the same choices. */
function choiceOptions(commands: readonly Command[]): [name: string, choices: readonly string[]][] {
  const found = new Map<string, readonly string[]>();
  for (const { options } of commands)
    for (const [name, { choices }] of Object.entries(options))
      if (choices) found.set(name, choices);
  return [...found];
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
  const choices = choiceOptions(commands).map(
    ([name, values]) =>
      `    --${name}) COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$current")); return ;;`,
  );
  return `# Completion of parley for bash. Add to ~/.bashrc: source <(parley completion bash)
_parley() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words='' word candidates
  case "$previous" in
${choices.join('\n')}
  esac
  previous=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$previous" in
      ${valueOptions(commands).join('|')}) ;;
      *) case "$word" in -*) ;; *) words="\${words:+$words }$word" ;; esac ;;
    esac
    previous="$word"
  done
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
  const singles = commands.filter(({ name }) => !name.includes(' '));
  const list = singles.map(
    ({ name, summary }) => `    ${quoted(`${name}:${escapeColon(summary)}`)}`,
  );
  const cases = singles.map((command) => {
    const below = commands.filter(({ name }) => name.startsWith(`${command.name} `));
    const options = [...below, command].flatMap(({ options }) => Object.entries(options));
    const specs = [...new Map([...options, ...Object.entries(GLOBAL_OPTIONS)]).entries()].map(
      ([name, option]) => `        ${quoted(zshOption(name, option))}`,
    );
    const words = [
      ...below.map(({ name }) => name.split(' ')[1] ?? ''),
      ...Object.values(command.arguments).flatMap(({ choices = [] }) => choices),
    ];
    const positional = words.length > 0 ? `'*:: :(${words.join(' ')})'` : `'*:file:_files'`;
    return `      ${command.name})\n        _arguments \\\n${specs.join(' \\\n')} \\\n        ${positional} ;;`;
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
  const singles = commands.filter(({ name }) => !name.includes(' '));
  const lines = singles.map(
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
  const choices = singles.flatMap((command) =>
    Object.values(command.arguments).flatMap(({ choices: values }) =>
      values
        ? [
            `complete -c parley -f -n '__fish_seen_subcommand_from ${command.name}' -a ${quoted(values.join(' '))}`,
          ]
        : [],
    ),
  );
  const options = singles.flatMap((command) => {
    const all = commands.filter(
      ({ name }) => name === command.name || name.startsWith(`${command.name} `),
    );
    const unique = new Map(all.flatMap((one) => Object.entries(one.options)));
    return [...unique].map(([name, option]) => fishOption(name, option, command.name));
  });
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
