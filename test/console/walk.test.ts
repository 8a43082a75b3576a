import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect } from 'vitest';
import { makeId } from '../../src/text/ids.ts';
import { agent, startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { createVisits } from './visits.ts';

const run = promisify(execFile);

let app: TestApp;
const { open } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

/** Chats over REST with curl. @returns the status and the body. */
async function curl(botId: string, key: string): Promise<[string, Record<string, unknown>]> {
  const { stdout } = await run('curl', [
    ...['--silent', '--show-error', '--write-out', '\n%{http_code}'],
    `${app.url}/v1/bots/${botId}/chat`,
    ...['-H', `Authorization: Bearer ${key}`, '-H', 'Content-Type: application/json'],
    ...['-d', '{"message": "Hello from a shop"}'],
  ]);
  const [body = '', status = ''] = stdout.split(/\n(?=\d+$)/);
  return [status, JSON.parse(body)];
}

browserTest('a new user signs in by link, creates a key, uses it, and revokes it', async () => {
  const tenant = await app.tenant();
  const { data } = await tenant.graphql('{ viewer { apiKey { id } } }');
  const code = await app.issueSignInCode(data.viewer.apiKey.id);
  const page = await open();
  await page.goto(`/sign-in#code=${code}`);
  await page.getByRole('button', { name: 'Sign in' }).click();

  await page.getByRole('heading', { name: 'Make your first bot' }).waitFor();
  await page.getByRole('main').getByRole('link', { name: 'New bot' }).last().click();
  const id = makeId('bot').replaceAll('_', '-');
  await page.getByLabel('Name').fill('Walk');
  await page.getByLabel('Id').fill(id);
  await page.getByText(`No bot has the id ${id}.`).waitFor();
  await page.getByRole('button', { name: 'Create bot' }).click();
  await page.getByRole('button', { name: 'Interviewer' }).click();
  await page.getByRole('button', { name: 'Deploy to production' }).click();

  for (const reply of ['First reply', 'Second reply']) {
    app.upstream.script(({ say, end }) => {
      say(reply);
      end();
    });
    await page.getByLabel('Message').fill('Hello');
    await page.keyboard.press('Enter');
    await page.getByText(reply).waitFor();
    await page
      .getByText(/tokens/)
      .first()
      .waitFor();
    await page.goto(`/bots/${id}/start`);
  }
  const sessions = await app.prisma.session.findMany({ where: { botId: id } });
  expect(new Set(sessions.map(({ sessionId }) => sessionId)).size).toBe(2);

  await tenant.graphql(
    'mutation ($id: ID!, $source: String!) { deploy(botId: $id, input: { source: $source, environment: STAGING }) { id } }',
    { id, source: agent('prompt "You are the next version."') },
  );
  app.upstream.script(({ request, say, end }) => {
    const isNext = request.body.messages[0]?.content.includes('next version');
    say(isNext ? 'The next reply' : 'The present reply');
    end();
  });
  await page.goto(`/bots/${id}/playground`);
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByLabel('Message').fill('Hello both');
  await page.keyboard.press('Enter');
  const comparison = page.getByRole('region', { name: 'Comparison' });
  for (const word of ['present', 'next']) await comparison.getByText(word).first().waitFor();

  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('link', { name: 'New key' }).click();
  await page.getByLabel('Name').fill('Shop');
  await page.getByLabel('Only some bots').check();
  await page.getByLabel(`Walk ${id}`).check();
  await page.getByRole('button', { name: 'Create key' }).click();
  const secret = (await page.getByRole('dialog').locator('pre').textContent()) ?? '';
  await page.getByRole('button', { name: 'I have stored it' }).click();

  app.upstream.script(({ say, end }) => {
    say('Reply over REST');
    end();
  });
  expect(await curl(id, secret)).toMatchObject(['200', { response: 'Reply over REST' }]);
  await page.getByRole('link', { name: 'Usage' }).click();
  await page.getByRole('row', { name: /^Walk 5 / }).waitFor();
  await page.getByRole('row', { name: /^Shop 1 / }).waitFor();

  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Actions for Shop' }).click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await page.getByText('Revoked Shop.').waitFor();
  expect(await curl(id, secret)).toMatchObject(['401', { error: { code: 'invalid_api_key' } }]);

  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByRole('row', { name: /revoked a key Shop/ }).waitFor();
  await page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link', { name: 'Bots', exact: true })
    .click();
  await page.getByRole('button', { name: 'Actions for Walk' }).click();
  await page.getByRole('menuitem', { name: 'Rename…' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Run');
  await page.getByRole('button', { name: 'Rename' }).click();
  await page.getByText('Renamed Walk to Run.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Renamed back to Walk.').waitFor();
  await page.getByRole('link', { name: 'Walk' }).waitFor();
});
