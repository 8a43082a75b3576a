import SchemaBuilder from '@pothos/core';
import PrismaPlugin from '@pothos/plugin-prisma';
import RelayPlugin from '@pothos/plugin-relay';
import ScopeAuthPlugin from '@pothos/plugin-scope-auth';
import SimpleObjectsPlugin from '@pothos/plugin-simple-objects';
import ZodPlugin from '@pothos/plugin-zod';
import { DateResolver, DateTimeResolver, JSONResolver } from 'graphql-scalars';
import { authorizeScope, type RequiredScope } from '../accounts/caller.ts';
import { invalidInput, problemsOf } from '../errors/errors.ts';
import type PrismaTypes from '../generated/pothos-types.ts';
import { getDatamodel } from '../generated/pothos-types.ts';
import type { JsonValue } from '../text/json.ts';
import { PRICES } from './admission/points.ts';
import type { Context } from './context.ts';
import { RELAY_OPTIONS } from './relay-options.ts';

/** The schema builder. Each module in this folder adds its types and fields to it. */
export const builder = new SchemaBuilder<{
  PrismaTypes: PrismaTypes;
  Context: Context;
  DefaultFieldNullability: false;
  Scalars: {
    ID: { Input: string; Output: string };
    /** A UTC day, `YYYY-MM-DD`. */
    Date: { Input: Date; Output: string };
    DateTime: { Input: Date; Output: Date };
    JSON: { Input: unknown; Output: JsonValue };
  };
  AuthScopes: {
    /** Any valid key or session token. */
    authenticated: boolean;
    /** A key with this scope, or with any of these scopes. */
    scope: RequiredScope;
    /** A key that may use this bot and has the scope, if one is given. */
    bot: { id: string; scope?: RequiredScope };
    /** A caller that may read the contents of the run with this id. */
    run: string;
  };
}>({
  defaultFieldNullability: false,
  // Authorization comes before validation, so that an unauthorized caller sees no validation errors.
  plugins: [ScopeAuthPlugin, ZodPlugin, RelayPlugin, PrismaPlugin, SimpleObjectsPlugin],
  prisma: {
    client: ({ prisma }) => prisma,
    dmmf: getDatamodel(),
    defaultConnectionSize: 20,
    maxConnectionSize: 100,
  },
  relay: RELAY_OPTIONS,
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
  zod: { validationError: (error) => invalidInput(problemsOf(error)) },
});

builder.addScalarType('Date', DateResolver);
builder.addScalarType('DateTime', DateTimeResolver);
builder.addScalarType('JSON', JSONResolver);

builder.queryType({
  description: `Read operations. Every field requires an API key, and each root field counts as one request. An operation may return 10,000 objects and 16 MiB of JSON, 8 MiB of it in long texts, and may cost 100 points: each occurrence costs ${PRICES}. An operation beyond a limit fails before it runs: with REQUEST_TOO_LARGE for its bytes, and else with INVALID_REQUEST. A response that turns out larger fails with REQUEST_TOO_LARGE.`,
});
builder.mutationType({ description: 'Write operations. Each root field counts as one request.' });
builder.subscriptionType({
  description:
    'Event streams. Each root field counts as one request. Each event may return 1,000 objects and 16 MiB of JSON, 8 MiB of it in long texts, and may cost 20 points. Events that cost points wait when the events of the account have cost 100 points in a second on the plan FREE, 400 on PRO, 1,000 on BUSINESS and 5,000 on ENTERPRISE; 64 KiB of JSON cost one more.',
});
