import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { readConfig } from '../../src/start/config.ts';
import { environmentVariables } from '../../src/start/environment-variables.ts';

const OPERATIONS = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const SECRET_KEY = Buffer.alloc(32, 1).toString('base64');

const problemsOf = (environment: Record<string, string>) => {
  try {
    readConfig(environment);
  } catch (error) {
    return String(error instanceof Error && error.message).split('\n');
  }
  return [];
};

describe('the settings', () => {
  test('have defaults, so that none is required', () => {
    expect(readConfig({})).toMatchObject({
      host: '127.0.0.1',
      port: 4000,
      databaseUrl: undefined,
      redisUrl: undefined,
      dataDirectory: expect.stringMatching(/^\/.*\/\.parley$/),
      secretKey: undefined,
      bootstrapKey: undefined,
      model: undefined,
      trustProxy: [],
      otlpEndpoint: undefined,
      metrics: undefined,
      retentionDays: undefined,
      logLevel: 'info',
    });
  });

  test.each(Object.keys(environmentVariables.shape))(
    'document %s in docs/operations.md',
    (name) => {
      expect(OPERATIONS).toMatch(new RegExp(`\`${name}[\`=]`));
    },
  );

  test('treat an empty string as not set', () => {
    expect(readConfig({ PORT: '', DATABASE_URL: '  ' })).toMatchObject({ port: 4000 });
  });

  test('are read from the environment', () => {
    const bootstrapKey = makeApiKey();
    expect(
      readConfig({
        PORT: '8080',
        HOST: '0.0.0.0',
        DATABASE_URL: 'postgresql://user:pass@db/parley',
        REDIS_URL: 'rediss://:pass@cache:6380/2',
        PARLEY_SECRET_KEY: `${SECRET_KEY}, ${Buffer.alloc(32, 2).toString('base64')}`,
        PARLEY_BOOTSTRAP_KEY: bootstrapKey,
        OPENAI_BASE_URL: 'http://localhost:11434/v1',
        OPENAI_MODEL: 'llama',
        TRUST_PROXY: '10.0.0.1, 192.168.0.0/16',
        PARLEY_ALLOWED_HOSTS: 'shop.internal:8080, [fd00::1]:80',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
        OTEL_SERVICE_NAME: 'bots',
        OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=a%20b',
        PARLEY_METRICS_TOKEN: 'sixteen-letters!',
        PARLEY_METRICS_PORT: '9464',
        PARLEY_RETENTION_DAYS: '30',
        PARLEY_PROMPT_DAYS: '0',
        PARLEY_EVALUATION_DAYS: '30',
        PARLEY_JUDGE_MODEL: 'judge-1',
        PUBLIC_URL: 'HTTPS://Bots.example/parley/',
        TELEGRAM_API_ROOT: 'http://127.0.0.1:8081/',
        LOG_LEVEL: 'warn',
      }),
    ).toMatchObject({
      port: 8080,
      promptDays: 0,
      evaluationDays: 30,
      judgeModel: 'judge-1',
      host: '0.0.0.0',
      databaseUrl: 'postgresql://user:pass@db/parley',
      redisUrl: 'rediss://:pass@cache:6380/2',
      secretKey: Buffer.alloc(32, 1),
      previousSecretKeys: [Buffer.alloc(32, 2)],
      bootstrapKey,
      model: {
        apiKey: undefined,
        baseUrl: 'http://localhost:11434/v1',
        name: 'llama',
      },
      trustProxy: ['10.0.0.1', '192.168.0.0/16'],
      allowedHosts: ['shop.internal:8080', '[fd00::1]:80'],
      otlpEndpoint: 'http://127.0.0.1:4318',
      resourceAttributes: { 'service.name': 'bots', 'deployment.environment.name': 'a b' },
      metrics: { token: 'sixteen-letters!', port: 9464 },
      retentionDays: 30,
      publicUrl: 'https://bots.example/parley',
      telegramApiRoot: 'http://127.0.0.1:8081',
      logLevel: 'warn',
    });
  });

  test('report every problem at once', () => {
    expect(
      problemsOf({
        PORT: 'http',
        DATABASE_URL: 'mysql://db',
        REDIS_URL: 'http://cache',
        PARLEY_SECRET_KEY: 'short',
        PARLEY_BOOTSTRAP_KEY: 'parley_sk_short',
        OPENAI_BASE_URL: 'not a url',
        TRUST_PROXY: 'proxy.example',
        PARLEY_ALLOWED_HOSTS: 'shop:99999',
        PUBLIC_URL: 'https://bots.example?x',
        TELEGRAM_API_ROOT: 'api.telegram.org',
        OTEL_EXPORTER_OTLP_ENDPOINT: '127.0.0.1:4318',
        PARLEY_METRICS_TOKEN: 'short',
        PARLEY_METRICS_PORT: '70000',
        PARLEY_RETENTION_DAYS: '0.5',
        PARLEY_PROMPT_DAYS: '-1',
        PARLEY_EVALUATION_DAYS: '0',
        OTEL_RESOURCE_ATTRIBUTES: 'team',
        LOG_LEVEL: 'loud',
        PARLEY_DATADIR: '/data',
      }),
    ).toEqual([
      'PARLEY_DATADIR is not a setting of Parley; did you mean PARLEY_DATA_DIR?',
      'PORT must be a port number',
      'DATABASE_URL must be a postgresql:// address',
      'REDIS_URL must be a redis:// or rediss:// address',
      'PARLEY_SECRET_KEY must be 32 bytes in base64; make one with: openssl rand -base64 32',
      'PARLEY_BOOTSTRAP_KEY must be a whole API key, parley_sk_ and 49 characters with their checksum',
      'OPENAI_BASE_URL must be an http:// or https:// address',
      'TRUST_PROXY must be IP addresses',
      'PARLEY_ALLOWED_HOSTS must be host:port entries',
      'PARLEY_RETENTION_DAYS must be a whole number of days, 1 to 36500',
      'PARLEY_PROMPT_DAYS must be a whole number of days, 0 to 36500',
      'PARLEY_EVALUATION_DAYS must be a whole number of days, 1 to 36500',
      'PARLEY_METRICS_TOKEN must be 16 to 256 visible ASCII characters',
      'PARLEY_METRICS_PORT must be a port number',
      'PUBLIC_URL must not contain a user, query or fragment',
      'TELEGRAM_API_ROOT must be an http:// or https:// address',
      'OTEL_EXPORTER_OTLP_ENDPOINT must be an http:// or https:// address',
      'OTEL_RESOURCE_ATTRIBUTES must be name=value entries, each name once',
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
      'OPENAI_MODEL is required with OPENAI_BASE_URL: the name of the default model',
    ]);
  });

  test('use OpenAI’s own server if only its key is set, and require a server for a model', () => {
    expect(readConfig({ OPENAI_API_KEY: 'sk-x' }).model).toEqual({
      apiKey: 'sk-x',
      baseUrl: undefined,
      name: 'gpt-6-luna',
    });
    expect(problemsOf({ OPENAI_MODEL: 'm' })).toEqual([
      expect.stringMatching(/^OPENAI_MODEL requires/),
    ]);
  });

  test('name up to 3 fallback models', () => {
    const server = { OPENAI_API_KEY: 'sk-x' };
    expect(readConfig({ ...server, OPENAI_FALLBACK_MODELS: 'a, b' }).model).toMatchObject({
      fallbacks: ['a', 'b'],
    });
    expect(problemsOf({ ...server, OPENAI_FALLBACK_MODELS: 'a,b,c,d' })).toEqual([
      'OPENAI_FALLBACK_MODELS must be 3 models at most',
    ]);
    expect(problemsOf({ OPENAI_FALLBACK_MODELS: 'a' })).toEqual([
      expect.stringMatching(/^OPENAI_FALLBACK_MODELS requires/),
    ]);
  });

  test('identify the operator to the model server', () => {
    const identity = {
      OPENAI_API_KEY: 'k',
      OPENAI_ORG_ID: 'org-1',
      OPENAI_PROJECT_ID: 'proj_1',
      OPENAI_AUTH_HEADER: 'api-key',
    };
    expect(readConfig(identity).model).toMatchObject({
      organization: 'org-1',
      project: 'proj_1',
      authHeader: 'api-key',
    });
    expect(problemsOf({ OPENAI_AUTH_HEADER: 'api-key' })).toEqual([
      'OPENAI_AUTH_HEADER requires OPENAI_API_KEY, which it holds',
    ]);
    expect(
      problemsOf({ ...identity, OPENAI_ORG_ID: 'org 1', OPENAI_AUTH_HEADER: 'api key' }),
    ).toEqual([
      'OPENAI_ORG_ID must be 1 to 256 visible ASCII characters',
      'OPENAI_AUTH_HEADER must be the name of a header, such as api-key',
    ]);
    expect(problemsOf({ ...identity, OPENAI_AUTH_HEADER: 'Content-Length' })).toEqual([
      'OPENAI_AUTH_HEADER must not be a header with another purpose',
    ]);
  });

  test('require a secret key with an external database', () => {
    expect(problemsOf({ DATABASE_URL: 'postgres://db/parley' })).toEqual([
      'PARLEY_SECRET_KEY is required with DATABASE_URL; make one with: openssl rand -base64 32',
    ]);
  });

  test.each(['-1', '65536', '80.5', '0x50h'])('refuse the port %s', (PORT) => {
    expect(problemsOf({ PORT })).toEqual([expect.stringMatching(/^PORT /)]);
  });

  test('never repeat a value that may be secret', () => {
    const secret = 'hunter2-hunter2';
    const problems = problemsOf({
      DATABASE_URL: `mysql://user:${secret}@db`,
      PARLEY_SECRET_KEY: secret,
      PARLEY_BOOTSTRAP_KEY: secret,
      OPENAI_BASE_URL: secret,
    });
    expect(problems.length).toBeGreaterThan(3);
    expect(problems.join()).not.toContain(secret);
  });
});

describe('a manifest of documents', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  const fileOf = (text: string) => {
    const path = join(directory, 'documents.json');
    writeFileSync(path, text);
    return { PARLEY_PERSISTED_DOCUMENTS: path };
  };

  test('is read with the settings', () => {
    const only = { PARLEY_PERSISTED_DOCUMENTS_ONLY: 'true' };
    expect(readConfig({}).persistedDocuments).toEqual({ manifest: undefined, only: false });
    const manifest = { viewer: '{ viewer { account { id } } }', 'x-team:1': '{ __typename }' };
    expect(readConfig({ ...fileOf(JSON.stringify(manifest)), ...only }).persistedDocuments).toEqual(
      { manifest, only: true },
    );
  });

  test('prevents the start and reports every problem', () => {
    const manifest = { 'an id': '{ __typename }', 'sha256:0f': '{ __typename }', viewer: 1 };
    const settings = { PARLEY_PERSISTED_DOCUMENTS_ONLY: 'yes' };
    expect(problemsOf({ ...fileOf(JSON.stringify(manifest)), ...settings })).toEqual([
      'PARLEY_PERSISTED_DOCUMENTS an id is not a valid document id',
      'PARLEY_PERSISTED_DOCUMENTS sha256:0f is not a valid document id',
      'PARLEY_PERSISTED_DOCUMENTS viewer must be a GraphQL document',
      'PARLEY_PERSISTED_DOCUMENTS_ONLY must be true or false',
    ]);
  });

  test.each([
    ['', 'must be JSON'],
    ['[]', 'must be a JSON object of document ids and documents'],
  ])('with the content %j is refused', (text, message) => {
    expect(problemsOf(fileOf(text))).toEqual([`PARLEY_PERSISTED_DOCUMENTS ${message}`]);
  });

  test('that does not exist is reported', () => {
    expect(problemsOf({ PARLEY_PERSISTED_DOCUMENTS: join(directory, 'none.json') })).toEqual([
      'PARLEY_PERSISTED_DOCUMENTS must be the path of a readable file',
    ]);
  });
});

describe('Redis behind Sentinels', () => {
  test('needs no URL, and takes IPv6 addresses', () => {
    const settings = {
      REDIS_SENTINELS: 'a.internal:26379, [fd00::1]:26380',
      REDIS_MASTER_NAME: 'parley',
      REDIS_SENTINEL_PASSWORD: 'secret',
    };
    expect(readConfig(settings)).toMatchObject({
      redisUrl: 'redis://sentinel',
      redisPlace: {
        sentinels: [
          { host: 'a.internal', port: 26_379 },
          { host: 'fd00::1', port: 26_380 },
        ],
        masterName: 'parley',
        sentinelPassword: 'secret',
        sentinelTls: false,
      },
    });
  });

  test.each<Record<string, string>>([{ REDIS_SENTINELS: 'a:1' }, { REDIS_MASTER_NAME: 'parley' }])(
    'needs both its settings: %j',
    (settings) => {
      expect(problemsOf(settings)).toEqual([
        'REDIS_SENTINELS and REDIS_MASTER_NAME require each other',
      ]);
    },
  );
});
