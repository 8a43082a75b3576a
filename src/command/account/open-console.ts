import { CreateSignInCode } from '../../generated/operations/command.ts';
import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { connect } from '../server/connection.ts';
import { KEPT_MS, openSecretLink } from './browser.ts';

/** Prints a link that signs a browser in to the console once, and opens it in a terminal session. */
export async function openConsole(
  { withBrowser }: { withBrowser: boolean },
  context: Context,
): Promise<void> {
  const { terminal, print, json, environment, signal } = context;
  const { target, graphql } = await connect(context);
  const { createSignInCode } = await graphql.run(CreateSignInCode, {}, signal);
  const code = createSignInCode?.code ?? '';
  // The code becomes a part of a page on this machine.
  if (!/^[\w-]+$/.test(code)) throw new Refusal('The server returned no code.');
  const url = `${target.url}/sign-in#code=${code}`;
  await print({ url }, () => url);
  if (!withBrowser || json || !terminal.canAsk) return;
  terminal.progress(
    `Opening it in the browser, by a file that only you can read and that is deleted in ${KEPT_MS / 1_000} s.`,
  );
  if (!(await openSecretLink(url, { home: environment.home, signal })))
    terminal.note('No browser could be opened. Open the link yourself.');
}
