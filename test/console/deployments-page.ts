import type { Page } from 'playwright-core';
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

/** Asks for the confirmation of a deploy to production, once the check of the definition is shown. */
export async function askToDeploy(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: 'Deploy to production…' });
  await button.waitFor();
  // The problems of a definition stand above the button, and move it when they appear.
  await page.locator('section.deploy[aria-busy=false]').waitFor();
  await button.click();
}
