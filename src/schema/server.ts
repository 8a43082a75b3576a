import { MAX_SENTENCE } from '../agent/model-tests.ts';
import type { Dependency, ServerCheck, ServerState } from '../coordination/server-state.ts';
import { HIGHEST_PRICE } from './admission/points.ts';
import { builder } from './builder.ts';

const DependencyObject = builder.objectRef<Dependency>('Dependency').implement({
  description: 'A server that Parley depends on, as one round trip found it.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: 'Product: `PostgreSQL`, `embedded database` or `Redis`.',
    }),
    reachable: t.exposeBoolean('reachable', { description: 'Whether it answered in time.' }),
    latencyMs: t.exposeFloat('latencyMs', {
      nullable: true,
      description: 'Duration of the round trip in milliseconds. Null if it is not reachable.',
    }),
  }),
});

const ServerCheckStatus = builder.enumType('ServerCheckStatus', {
  description: 'Result of a check of the server.',
  values: {
    OK: { value: 'ok', description: 'The check passed.' },
    WARNING: {
      value: 'warning',
      description: 'The server works, but `advice` says what to change.',
    },
    FAILED: { value: 'failed', description: 'It does not work. `advice` says what to do.' },
  } as const,
});

const ServerCheckObject = builder.objectRef<ServerCheck>('ServerCheck').implement({
  description:
    'One check of the server, as `parley doctor` prints it. It contains no password and no key.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'What is checked, such as `Database`.' }),
    status: t.expose('status', { type: ServerCheckStatus, description: 'Result of the check.' }),
    message: t.string({
      description: 'The result as a sentence.',
      resolve: ({ message }) => message.slice(0, MAX_SENTENCE),
    }),
    advice: t.string({
      nullable: true,
      description: 'What to do. Null if the check found nothing to do.',
      resolve: ({ advice }) => advice?.slice(0, MAX_SENTENCE) ?? null,
    }),
  }),
});

const ServerObject = builder.objectRef<ServerState>('Server').implement({
  description: 'The process that answers the request, and its dependencies.',
  fields: (t) => ({
    version: t.exposeString('version', { description: 'Version of Parley.' }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      description: 'Time at which the process started.',
    }),
    model: t.exposeString('model', {
      description:
        'Name of the model that answers for definitions that name none. Requires the scope OPERATOR.',
      authScopes: { scope: 'OPERATOR' },
    }),
    database: t.field({
      type: DependencyObject,
      description: 'State of the database. Requires the scope OPERATOR.',
      authScopes: { scope: 'OPERATOR' },
      resolve: ({ checkDatabase }) => checkDatabase(),
    }),
    redis: t.field({
      type: DependencyObject,
      nullable: true,
      description: 'State of Redis. Null if it is not configured. Requires the scope OPERATOR.',
      authScopes: { scope: 'OPERATOR' },
      resolve: ({ checkRedis }) => checkRedis(),
    }),
    checks: t.field({
      type: [ServerCheckObject],
      description: `Checks Node.js, the settings, the database, Redis, the clock and the data directory, as \`parley doctor\` does. It takes at most 5 seconds. ${HIGHEST_PRICE} Requires the scope OPERATOR.`,
      authScopes: { scope: 'OPERATOR' },
      resolve: ({ checkAll }) => checkAll(),
    }),
    allowedOrigins: t.stringList({
      description:
        'Origins whose pages may call the GraphQL API, besides Parley’s own. Requires the scope OPERATOR.',
      authScopes: { scope: 'OPERATOR' },
      resolve: ({ allowedOrigins }) => [...allowedOrigins],
    }),
  }),
});

builder.queryField('server', (t) =>
  t.field({
    type: ServerObject,
    description: 'Retrieves the state of the server.',
    authScopes: { authenticated: true },
    resolve: (_root, _args, { server }) => server,
  }),
);
