import SchemaBuilder from '@pothos/core';
import PrismaPlugin from '@pothos/plugin-prisma';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import SimpleObjectsPlugin from '@pothos/plugin-simple-objects';
import ZodPlugin from '@pothos/plugin-zod';
import { DateTimeResolver, JSONResolver } from 'graphql-scalars';
import { authorizeScope, type RequiredScope } from '../accounts/caller.ts';
import { invalidRequest } from '../errors.ts';
import type PrismaTypes from '../generated/pothos-types.ts';
import { getDatamodel } from '../generated/pothos-types.ts';
import { cursor, pageSize } from '../input.ts';
import type { JsonValue } from '../json.ts';
import type { Context } from './context.ts';

/** The types of nodes by the prefix of their ids; an id without one of these is a bot's. */
const NODE_TYPES = new Map([
  ['acc', 'Account'],
  ['key', 'ApiKey'],
  ['dep', 'Deployment'],
  ['run', 'Run'],
  ['ses', 'Session'],
]);

/** The one schema builder, on which every domain defines its types and fields. */
export const builder = new SchemaBuilder<{
  PrismaTypes: PrismaTypes;
  Context: Context;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: unknown; Output: JsonValue };
  };
  AuthScopes: {
    /** Any valid key. */
    authenticated: boolean;
    /** A key with this scope, or one of these. */
    scope: RequiredScope;
    /** A key that may use this bot, and has this scope where one is named. */
    bot: { id: string; scope?: RequiredScope };
    /** A caller that may read what the run with this id holds. */
    run: string;
  };
}>({
  defaultFieldNullability: false,
  // The first plugin is asked first: nobody is told what is wrong with an input who may not send it.
  plugins: [ScopeAuthPlugin, ZodPlugin, RelayPlugin, PrismaPlugin, SimpleObjectsPlugin],
  prisma: {
    client: ({ prisma }) => prisma,
    dmmf: getDatamodel(),
    defaultConnectionSize: 20,
    maxConnectionSize: 100,
  },
  relay: {
    firstArgOptions: { validate: { schema: pageSize } },
    lastArgOptions: { validate: { schema: pageSize } },
    beforeArgOptions: { validate: { schema: cursor } },
    afterArgOptions: { validate: { schema: cursor } },
    encodeGlobalID: (_type, id) => String(id),
    decodeGlobalID: (id) => ({ typename: NODE_TYPES.get(id.split('_', 1)[0] ?? '') ?? 'Bot', id }),
    nodeQueryOptions: {
      description: 'Anything that has an id, or null where there is nothing that this key may see.',
      authScopes: { authenticated: true },
    },
    nodesQueryOptions: {
      description: 'The same for at most 100 ids, in their order.',
      authScopes: { authenticated: true },
      args: {
        ids: { validate: { maxLength: [100, { message: 'must be at most 100' }] } },
      },
    },
  },
  scopeAuth: {
    authorizeOnSubscribe: true,
    cacheKey: (scope) => JSON.stringify(scope),
    authScopes: ({ caller, authorizeBot, authorizeRun }) => ({
      authenticated: () => caller() !== undefined,
      scope: (scope) => {
        authorizeScope(caller(), scope);
        return true;
      },
      bot: async ({ id, scope }) => {
        await authorizeBot(id, scope);
        return true;
      },
      run: (id) => {
        authorizeRun(id);
        return true;
      },
    }),
  },
  zod: { validationError: (error) => invalidRequest(error) },
});

builder.addScalarType('DateTime', DateTimeResolver);
builder.addScalarType('JSON', JSONResolver);

builder.queryType({
  description:
    'Reads. Every field needs an API key. An operation counts 1 for each field at its root. It may ask for 10,000 objects, for 8 MiB of long texts, and for 100 points of work: each place in the document takes 2 for a list, 3 for runs, 20 for stats, 20 for checkDefinition, and 1 to 10 for other fields that read anew. One that asks for more is refused with INVALID_REQUEST.',
});
builder.mutationType({ description: 'Writes.' });
builder.subscriptionType({ description: 'Streams.' });
