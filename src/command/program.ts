import { COMMANDS } from './commands/commands.ts';
import type { Context } from './context.ts';
import { type Environment, readEnvironment } from './environment.ts';
import { EXIT, Interrupted, Refusal, systemCode } from './errors.ts';
import { commandHelp, overview } from './line/help.ts';
import { parseLine } from './line/parse.ts';
import { createTerminal, type Streams, type Terminal } from './terminal/terminal.ts';
import { visibleJson } from './terminal/visible.ts';

type Options = {
  version: string;
  /** Aborts when the user presses Ctrl-C. */
  signal: AbortSignal;
  /** Default: the streams of this process. */
  streams?: Streams;
  /** Default: the variables of this process. */
  variables?: NodeJS.ProcessEnv;
};

/**
 * Runs one command line.
 *
 * @returns the exit code.
 */
export async function runLine(
  line: readonly string[],
  { version, signal, streams = process, variables }: Options,
): Promise<number> {
  const environment = readEnvironment(variables);
  const terminal = createTerminal(streams, environment);
  try {
    await run(line, { version, signal, terminal, environment });
    await terminal.flush();
    return signal.aborted ? EXIT.interrupted : EXIT.done;
  } catch (error) {
    return reportError(error, terminal, environment, signal);
  }
}

async function run(
  line: readonly string[],
  base: Pick<Context, 'terminal' | 'environment' | 'signal' | 'version'>,
): Promise<void> {
  const { terminal, version } = base;
  const parsed = parseLine(line, COMMANDS);
  if (parsed.asks === 'version') return terminal.write(`parley ${version}\n`);
  if (parsed.asks === 'help') {
    const { style } = terminal;
    const text = parsed.command
      ? commandHelp(parsed.command, COMMANDS, style)
      : overview(COMMANDS, style);
    return terminal.write(`${text}\n`);
  }
  const { command, input } = parsed;
  const json = input.flag('json');
  await command.run(input, {
    ...base,
    json,
    debug: input.flag('debug'),
    profileName: input.text('profile') ?? base.environment.profile,
    print: (value, text) => terminal.write(`${json ? visibleJson(value, 2) : text()}\n`),
    emit: (value, text) => terminal.write(json ? `${visibleJson(value)}\n` : text()),
  });
}

async function reportError(
  error: unknown,
  { note, errorStyle }: Terminal,
  environment: Environment,
  signal: AbortSignal,
): Promise<number> {
  if (signal.aborted || error instanceof Interrupted) return EXIT.interrupted;
  // The reader of a pipe, such as `head`, has read enough.
  if (systemCode(error) === 'EPIPE') return EXIT.done;
  const { describeError } = await import('./failure.ts');
  for (const line of describeError(error, environment).split('\n'))
    if (line !== '') note(`${errorStyle.red('Error:')} ${withoutKeys(line)}`);
  return error instanceof Refusal ? error.exitCode : EXIT.failed;
}

/** A key on the command line, in place of an ID, must not reach a log by an error. */
function withoutKeys(line: string): string {
  return line.replaceAll(/parley_sk_\w+/g, 'parley_sk_…');
}
