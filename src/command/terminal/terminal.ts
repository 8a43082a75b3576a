import { createStyle, type Style } from './style.ts';

/** The streams of the process. Only results go to stdout; progress, prompts and errors go to stderr. */
export type Terminal = {
  stdin: NodeJS.ReadStream;
  stderr: NodeJS.WriteStream;
  /** Whether a person can answer a prompt: stdin and stderr are terminals. */
  canAsk: boolean;
  /** Whether stdout is a terminal. */
  isStdoutTerminal: boolean;
  /** Colours for stdout, and for stderr. */
  style: Style;
  errorStyle: Style;
  /** Columns of stdout; none if it is no terminal. */
  width: number | undefined;
  /** Writes a part of a result. Resolves when the stream can take more. */
  write(text: string): Promise<void>;
  /** Writes a line of progress or a warning to stderr. */
  note(line: string): void;
  /** Writes a line to stderr if stderr is a terminal. */
  progress(line: string): void;
  /** Waits until all results are written. */
  flush(): Promise<void>;
};

export function createTerminal(
  { stdin, stdout, stderr }: Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>,
  { noColor }: { noColor: boolean },
): Terminal {
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      stdout.write(text, (error) => (error ? reject(error) : resolve()));
    });
  const note = (line: string) => void stderr.write(`${line}\n`);
  return {
    stdin,
    stderr,
    canAsk: !!stdin.isTTY && !!stderr.isTTY,
    isStdoutTerminal: !!stdout.isTTY,
    style: createStyle(!!stdout.isTTY && !noColor),
    errorStyle: createStyle(!!stderr.isTTY && !noColor),
    width: stdout.isTTY ? stdout.columns : undefined,
    write,
    note,
    progress: (line) => {
      if (stderr.isTTY) note(line);
    },
    flush: () => write(''),
  };
}
