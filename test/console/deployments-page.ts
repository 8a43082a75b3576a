import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { agent, type Tenant } from '../helpers/app.ts';

/** The address of a bot's deployments, or of something below it. */
export const addressOf = (bot: string, rest = '') => `/bots/${bot}/deployments${rest}`;

/** A definition that says this. */
export const saying = (text: string) => agent(`prompt "${text}"`);

/** A definition that sends a variable to a host. */
export const sendingTo = (host: string, variable: string) =>
  agent(`tools desk {
    capability ask "Ask" {
      get "https://${host}/" {
        header "Key" "{{ env.${variable} }}"
      }
    }
  }`);

/** Deploys as another client does. @returns the id of the deployment, which may have failed. */
export async function deploy(tenant: Tenant, botId: string, input: object): Promise<string> {
  const { data, errors } = await tenant.graphql(
    'mutation ($botId: ID!, $input: DeployInput!) { deploy(botId: $botId, input: $input) { id } }',
    { botId, input: { source: agent(), ...input } },
  );
  expect(errors).toBeUndefined();
  return data.deploy.id;
}

/** Opens the dialog of a deploy, and waits until the check of the definition is shown. */
export async function askToDeploy(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'Deploy…', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: /^Deploy to / });
  await untilChecked(dialog);
  return dialog;
}

/** Waits until an open dialog shows the check of its definition. */
export async function untilChecked(dialog: Locator): Promise<void> {
  await dialog.getByRole('heading', { name: 'Checks' }).waitFor();
  await dialog.locator('section.deploy[aria-busy=false]').waitFor();
}

/** The button of a dialog that deploys, promotes or rolls back. */
export function confirmIn(dialog: Locator, name: string | RegExp = 'Deploy to production') {
  return dialog.getByRole('button', { name, exact: true });
}
