import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { expect } from 'vitest';
import { runLine } from '../../src/command/program.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';

/** The command, as `npm run command` builds it. */
export const COMMAND = new URL('../../src/generated/command/parley.mjs', import.meta.url).pathname;

export type Outcome = { code: number | null; stdout: string; stderr: string };

export type Options = {
  /** Variables besides PATH and HOME. */
  env?: Record<string, string>;
  cwd?: string;
  /** The text on stdin. By default, stdin is empty. */
  stdin?: string | Buffer;
};

/** The user of a test: a home directory of their own, and variables for all their commands. */
export type User = {
  home: string;
  /** Runs a command without a terminal. */
  parley(line: string[], options?: Options): Promise<Outcome>;
  /** Runs a command in the process of the test, which takes far less CPU time. It has the directory of that process. */
  parleyHere(line: string[], options?: Omit<Options, 'cwd'>): Promise<Outcome>;
  /** Runs a shell line, in which `parley` is the command. */
  shell(script: string, options?: Options): Promise<Outcome>;
  /** Starts a command in a terminal of 100 columns. */
  terminal(line: string[], options?: Options): Terminal;
};

/** A command in a terminal. Its stdout and stderr are one screen. */
export type Terminal = {
  /** The output so far, with its colours. */
  raw(): string;
  /** The output so far, without colours and cursor movements. */
  screen(): string;
  /** Waits for a text on the screen, after the texts of earlier waits. */
  shows(text: string): Promise<void>;
  type(keys: string): void;
  /** Waits for the end. @returns the exit code. */
  code(): Promise<number | null>;
};

export const CTRL_C = '\x03';
export const CTRL_D = '\x04';
export const ENTER = '\r';
export const UP = '\x1b[A';
export const LEFT = '\x1b[D';

export async function createUser(variables: Record<string, string> = {}): Promise<User> {
  const home = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const start = (program: string, words: string[], { env, cwd = home }: Options) =>
    spawn(program, words, {
      cwd,
      env: { ...environmentFor(home), ...variables, ...env },
    });

  async function run(program: string, words: string[], options: Options): Promise<Outcome> {
    const child = start(program, words, options);
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        output[name] += chunk;
      });
    child.stdin.on('error', () => {});
    child.stdin.end(options.stdin ?? '');
    const [code] = await once(child, 'close');
    return { code, ...output };
  }

  return {
    home,
    parley: (line, options = {}) => run(process.execPath, [COMMAND, ...line], options),
    async parleyHere(line, { env, stdin = '' } = {}) {
      const [stdout, stderr] = [collect(), collect()];
      const code = await runLine(line, {
        version: '0.0.0',
        signal: new AbortController().signal,
        streams: {
          stdin: Readable.from([Buffer.from(stdin)]),
          stdout: stdout.stream,
          stderr: stderr.stream,
        },
        variables: { ...environmentFor(home), ...variables, ...env },
      });
      return { code, stdout: stdout.text(), stderr: stderr.text() };
    },
    shell: (script, options = {}) =>
      run(
        'bash',
        ['-c', `parley() { '${process.execPath}' '${COMMAND}' "$@"; }\n${script}`],
        options,
      ),
    terminal(line, options = {}) {
      const words = [process.execPath, COMMAND, ...line].map((word) => `'${word}'`).join(' ');
      const inside = `stty rows 40 cols 100; exec ${words}`;
      const child = start('script', ['-qefc', inside, '/dev/null'], options);
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (chunk: string) => {
          output += chunk;
        });
      child.stdin.on('error', () => {});
      const closed = once(child, 'close');
      atTheEnd(() => void child.kill('SIGKILL'));
      let seen = 0;
      const screen = () => stripVTControlCharacters(output);
      return {
        raw: () => output,
        screen,
        async shows(text) {
          await expect.poll(() => screen().slice(seen)).toContain(text);
          seen = screen().indexOf(text, seen) + text.length;
        },
        type: (keys) => void child.stdin.write(keys),
        async code() {
          const [code] = await closed;
          return code;
        },
      };
    },
  };
}

/** A stream that keeps what is written to it. */
function collect() {
  let text = '';
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return { stream, text: () => text };
}

/** Nothing of the tests' own environment reaches a command but the path. */
function environmentFor(home: string): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  return { PATH, HOME: home, TERM: 'xterm-256color', NODE_COMPILE_CACHE };
}
