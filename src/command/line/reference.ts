import { type Command, GLOBAL_OPTIONS, GROUPS } from './definition.ts';
import { argumentRows, ENVIRONMENT, optionRows, type Rows, usageLine } from './help.ts';

/** The reference of all commands in Markdown, for docs/command.md. */
export function reference(commands: readonly Command[]): string {
  const groups = GROUPS.map((group) => {
    const members = commands.filter((command) => command.group === group).map(commandSection);
    return members.join('\n\n');
  });
  return [
    'This chapter is the text of `parley COMMAND --help`.',
    table(['option of every command', 'meaning'], optionRows(GLOBAL_OPTIONS)),
    table(['environment variable', 'meaning'], ENVIRONMENT),
    ...groups,
  ].join('\n\n');
}

function commandSection(command: Command): string {
  const examples = command.examples.map(({ line, description }) => `# ${description}\n${line}`);
  return [
    `### parley ${command.name}`,
    command.summary,
    ...(command.details ?? []),
    `\`\`\`\n${usageLine(command)}\n\`\`\``,
    table(['argument', 'meaning'], argumentRows(command.arguments)),
    table(['option', 'meaning'], optionRows(command.options)),
    `\`\`\`sh skip\n${examples.join('\n')}\n\`\`\``,
  ]
    .filter(Boolean)
    .join('\n\n');
}

function table([name, meaning]: readonly [string, string], rows: Rows): string {
  if (rows.length === 0) return '';
  const cells = rows.map(([left, right]) => `| \`${left}\` | ${right.replaceAll('|', '\\|')} |`);
  return [`| ${name} | ${meaning} |`, '|---|---|', ...cells].join('\n');
}
