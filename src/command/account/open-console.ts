import { spawn } from 'node:child_process';
import { CreateSignInCode } from '../../operations/command/operations.ts';
import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { connect } from '../server/connection.ts';

/** Prints a link that signs a browser in to the console once, and opens it in a terminal session. */
export async function openConsole(
  { withBrowser }: { withBrowser: boolean },
  context: Context,
): Promise<void> {
  const { terminal, print, json } = context;
  const { target, graphql } = await connect(context);
  const { createSignInCode } = await graphql.run(CreateSignInCode, {}, context.signal);
  if (!createSignInCode) throw new Refusal('The server returned no code.');
  const url = `${target.url}/?code=${createSignInCode.code}`;
  await print({ url }, () => url);
  if (!withBrowser || json || !terminal.canAsk) return;
  if (!(await openBrowser(url)))
    terminal.note('No browser could be opened. Open the link yourself.');
}

/** @returns whether the program that opens addresses started. */
function openBrowser(url: string): Promise<boolean> {
  const [program, ...words] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...words, url], { stdio: 'ignore', detached: true });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}

/** The programs that open an address in the user's browser. */
const OPENERS: Partial<Record<NodeJS.Platform, [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
