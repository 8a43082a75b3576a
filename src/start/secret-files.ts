import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** The settings that files gave, by name, and one line for each file that cannot be used. */
export type SecretFiles = { values: Record<string, string>; problems: string[] };

/** A secret key, a URL or a token is shorter. */
const MAX_BYTES = 65_536;

/** The name of the variable with the path of the file of a setting. */
export const fileSetting = (name: string) => `${name}_FILE`;

/**
 * Reads the settings whose `NAME_FILE` names a file with one line, such as a secret of Docker or Kubernetes. White space
 * around the line does not count. No problem quotes the content of a file.
 */
export function readSecretFiles(
  environment: NodeJS.ProcessEnv,
  names: readonly string[],
): SecretFiles {
  const values: Record<string, string> = {};
  const problems: string[] = [];
  for (const name of names) {
    const path = environment[fileSetting(name)]?.trim();
    if (!path) continue;
    if (environment[name]?.trim())
      problems.push(`${name} and ${fileSetting(name)} are both set. Set one of them.`);
    else {
      const found = readLine(path);
      if (typeof found === 'string') values[name] = found;
      else problems.push(`${fileSetting(name)} ${found.problem}`);
    }
  }
  return { values, problems };
}

function readLine(path: string): string | { problem: string } {
  let text: string;
  try {
    text = readText(path);
  } catch (error) {
    if (error instanceof UnusableFile) return { problem: error.message };
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown error';
    return { problem: `must be the path of a readable file: ${code}` };
  }
  const line = text.trim();
  if (line === '') return { problem: 'names an empty file' };
  if (/[\n\r\0]/.test(line)) return { problem: 'names a file with more than one line' };
  return line;
}

class UnusableFile extends Error {}

function readText(path: string): string {
  // Without waiting for the writer of a pipe.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(file).isFile()) throw new UnusableFile('must be the path of a regular file');
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    const length = readSync(file, buffer);
    if (length > MAX_BYTES)
      throw new UnusableFile(`names a file with more than ${MAX_BYTES} bytes`);
    return buffer.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}
