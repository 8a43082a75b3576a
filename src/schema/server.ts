import type { Dependency, ServerState } from '../coordination/server-state.ts';
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
