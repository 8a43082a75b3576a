import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Language } from '../../src/console/screens/playground/inspector/samples.ts';

const run = promisify(execFile);

/** Runs an unchanged sample, with the key in the environment. @returns its output. */
export async function execute(language: Language, code: string, apiKey: string): Promise<string> {
  const [command, args] = {
    curl: ['sh', ['-c', `set -e; ${code}`]],
    client: [process.execPath, ['--input-type=module', '--eval', code]],
    node: [process.execPath, ['--input-type=module', '--eval', code]],
    python: ['python3', ['-c', code]],
    graphql: [process.execPath, ['--input-type=module', '--eval', code]],
    'openai-node': [process.execPath, ['--input-type=module', '--eval', code]],
    'openai-python': ['python3', ['-c', code]],
    'ai-sdk': [process.execPath, ['--input-type=module', '--eval', code]],
  }[language] as [string, string[]];
  const env = { ...process.env, PARLEY_API_KEY: apiKey, PYTHONIOENCODING: 'utf-8' };
  const { stdout } = await run(command, args, { env });
  return stdout;
}
