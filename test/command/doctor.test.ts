import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { createUser, type User } from './terminal.ts';

let app: TestApp;
let tenant: Tenant;
let user: User;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  user = await createUser({ PARLEY_API_KEY: tenant.apiKey, PARLEY_URL: app.url });
});

describe('parley doctor --bot', () => {
  test('prints what the model of a bot can do, and exits with 0 if it can be used', async () => {
    const bot = await tenant.bot('model "large-1"', 'STAGING');
    app.upstream.script(({ request, say, call, end }) => {
      if (request.body.tools) return call(['report_status', { status: 'ready' }]);
      say('I am ready.');
      end();
    });
    const { code, stdout } = await user.parley(['doctor', '--bot', bot, '--env', 'staging']);
    expect(stdout).toMatchInlineSnapshot(`
      "✓ Model server  The operator’s model server answers.
      ✓ Key           No key is needed.
      ✓ Name          The server knows the model "large-1".
      ✓ Stream        The answer arrives as a stream.
      ✓ Tools         The model calls tools.
      ! JSON          The model did not answer with the JSON object.
                      → Definitions with an \`output\` block need another model.
      ✓ Usage         The server reports its tokens: 12 of the prompt, 3 of the answer.
      ✓ Settings      The server refuses none of the settings in the requests.
      "
    `);
    expect(code).toBe(0);
    expect(app.upstream.requests.at(-1)?.body.model).toBe('large-1');
  });

  test('names what is wrong, and exits with 1', async () => {
    const bot = await tenant.bot();
    app.upstream.script(({ response }) => {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{"error": {"message": "model not found \\u001b[2J"}}');
    });
    const bad = await user.parley(['doctor', '--bot', bot]);
    expect(bad).toMatchObject({ code: 1 });
    expect(bad.stderr).toContain('Error: Not in order: Name.\n');
    expect(bad.stdout).toContain('does not know the model "scripted" (HTTP 404)');
    expect(bad.stdout).not.toContain('\u001b');
    const json = await user.parley(['doctor', '--bot', bot, '--json']);
    expect(JSON.parse(json.stdout).at(-1)).toMatchObject({ name: 'Name', status: 'failed' });
  });

  test('refuses a bot without a deployment, an unknown bot, and an environment without a bot', async () => {
    const empty = await user.parley(['doctor', '--bot', await tenant.bot(null)]);
    expect(empty).toMatchObject({ code: 1, stdout: '' });
    expect(empty.stderr).toContain('The bot has no deployment in this environment.');
    const unknown = await user.parley(['doctor', '--bot', 'nobody-4711']);
    expect(unknown).toMatchObject({ code: 1, stdout: '' });
    expect(unknown.stderr).toContain('There is no bot "nobody-4711" that the key may use.');
    const alone = await user.parley(['doctor', '--env', 'staging']);
    expect(alone).toMatchObject({ code: 2, stdout: '' });
    expect(alone.stderr).toContain('--env needs --bot.');
  });
});
