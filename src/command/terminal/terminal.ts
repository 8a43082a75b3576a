import type { Readable, Writable } from 'node:stream';
import { createFilter, createStyle, type Style } from './style.ts';

/** The streams of a process. Without `isTTY`, a stream is no terminal. */
export type Streams = {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean };
};

/**
 * The streams of the process. Only results go to stdout; progress, prompts and errors go to stderr. One filter for each
 * stream makes hidden characters of all texts visible, except in the styles below.
 */
export type Terminal = {
  stdin: Streams['stdin'];
  stderr: Streams['stderr'];
  /** Whether a person can answer a prompt: stdin and stderr are terminals. */
  canAsk: boolean;
  /** Colours for stdout, and for stderr. */
  style: Style;
  errorStyle: Style;
  /** Columns of stdout; none if it is no terminal. */
  width: number | undefined;
  /** Writes a part of a result. Resolves when the stream can take more. */
  write(text: string): Promise<void>;
  /** Writes a text for another program, byte for byte; in a terminal, as `write` does. */
  writeExactly(text: string): Promise<void>;
  /** Writes a line of progress or a warning to stderr. */
  note(line: string): void;
  /** Writes a line to stderr if stderr is a terminal. */
  progress(line: string): void;
  /** Waits until all results are written. */
  flush(): Promise<void>;
};

export function createTerminal(
  { stdin, stdout, stderr }: Streams,
  { noColor }: { noColor: boolean },
): Terminal {
  const [forStdout, forStderr] = [createFilter(), createFilter()];
  const send = (text: string) =>
    new Promise<void>((resolve, reject) => {
      stdout.write(text, (error) => (error ? reject(error) : resolve()));
    });
  const write = (text: string) => send(forStdout(text));
  const note = (line: string) => void stderr.write(forStderr(`${line}\n`));
  return {
    stdin,
    stderr,
    canAsk: !!stdin.isTTY && !!stderr.isTTY,
    style: createStyle(!!stdout.isTTY && !noColor),
    errorStyle: createStyle(!!stderr.isTTY && !noColor),
    width: stdout.isTTY ? stdout.columns : undefined,
    write,
    writeExactly: stdout.isTTY ? write : send,
    note,
    progress: (line) => {
      if (stderr.isTTY) note(line);
    },
    flush: () => write(''),
  };
}
