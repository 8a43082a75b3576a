import { type Check, printChecks } from '../checks.ts';
import type { Context } from '../context.ts';
import { findInstallation } from './installation.ts';
import { runServerProgram } from './server-program.ts';

/** Checks the requirements of a server in this directory, in a process with the settings of the server. */
export async function doctor(context: Context): Promise<void> {
  await printChecks([nodeCheck(), ...(await checkInChild(context))], context);
}

function nodeCheck(): Check {
  const message = `Node.js ${process.versions.node} runs the command`;
  return { name: 'Command', status: 'ok', message };
}

async function checkInChild(context: Context): Promise<Check[]> {
  const { result, problem } = await runServerProgram('doctor', [], context);
  if (Array.isArray(result)) return result.filter(isCheck);
  const reason = problem.split('\n').at(-1) ?? '';
  const advice = `Run npm install in ${findInstallation().root}.`;
  return [{ name: 'Server', status: 'failed', message: `cannot be loaded: ${reason}`, advice }];
}

function isCheck(value: unknown): value is Check {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    'status' in value &&
    'message' in value
  );
}
