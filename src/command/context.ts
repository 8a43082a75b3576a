import type { Environment } from './environment.ts';
import type { Terminal } from './terminal/terminal.ts';

/** What every action gets besides its own input. */
export type Context = {
  terminal: Terminal;
  environment: Environment;
  /** Whether results are JSON. */
  json: boolean;
  /** `--profile`. */
  profileName: string | undefined;
  debug: boolean;
  /** Aborts when the user presses Ctrl-C. */
  signal: AbortSignal;
  /** The version of the command. */
  version: string;
  /** Prints a result: the value as JSON with `--json`, else the text. */
  print(value: unknown, text: () => string): Promise<void>;
  /** Prints one event of a stream: a JSON line with `--json`, else the text as it is. */
  emit(value: unknown, text: () => string): Promise<void>;
};
