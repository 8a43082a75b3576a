import { z } from 'zod';
import {
  botId,
  displayName,
  futureTime,
  listOf,
  MAX_BOTS_OF_KEY,
  MAX_SCOPES,
  text,
} from '../text/input.ts';
import { ApiKeyNode, KeyScopeEnum } from './api-key.ts';
import { builder } from './builder.ts';

const MAX_OVERLAP_HOURS = 24;

const UpdateApiKeyInput = builder.inputType('UpdateApiKeyInput', {
  description:
    'Fields to change; omitted fields keep their values. The key cannot get more permissions than the caller’s key.',
  fields: (t) => ({
    name: t.string({
      description: 'Display name of the key, 1 to 200 characters.',
      validate: { schema: displayName },
    }),
    scopes: t.field({
      type: [KeyScopeEnum],
      description: 'Scopes of the key.',
      validate: {
        minLength: [1, { message: 'must not be empty' }],
        maxLength: [MAX_SCOPES, { message: `must be at most ${MAX_SCOPES}` }],
      },
    }),
    botIds: t.idList({
      description:
        'IDs of the bots that the key is restricted to, at most 100. Null removes the restriction.',
      validate: { schema: listOf(botId, MAX_BOTS_OF_KEY) },
    }),
    expiresAt: t.field({
      type: 'DateTime',
      description: 'Time at which the key expires. Null removes the expiry.',
      validate: { schema: futureTime },
    }),
  }),
});

builder.mutationField('updateApiKey', (t) =>
  t.field({
    type: ApiKeyNode,
    description:
      'Updates an API key of the caller’s account, effective from its next request. Open streams of a key that loses a scope or a bot end. Fails with INVALID_REQUEST if the account would have no key with the scope ADMIN left. Requires the scope ADMIN.',
    authScopes: { scope: 'ADMIN' },
    args: {
      id: t.arg.id({
        required: true,
        description: 'ID of the key, not its secret.',
        validate: { schema: text },
      }),
      input: t.arg({ type: UpdateApiKeyInput, required: true, description: 'Fields to change.' }),
    },
    resolve: (_root, { id, input }, { caller, keys }) => keys.update(caller(), id, input),
  }),
);

builder.mutationField('rotateApiKey', (t) =>
  t.field({
    type: builder.simpleObject('RotateApiKeyPayload', {
      description: 'The API key that replaces another one.',
      fields: (payload) => ({
        apiKey: payload.field({ type: ApiKeyNode, description: 'The new key.' }),
        secret: payload.string({ description: 'The API key itself. It is returned only once.' }),
      }),
    }),
    description:
      'Replaces an API key of the caller’s account by a new one with the same name, scopes, bots and expiry. The caller’s key counts as its creator. Session tokens of the old key end with it. Requires the scope ADMIN.',
    authScopes: { scope: 'ADMIN' },
    args: {
      id: t.arg.id({
        required: true,
        description: 'ID of the key, not its secret.',
        validate: { schema: text },
      }),
      overlapHours: t.arg.int({
        defaultValue: 0,
        description: `Hours for which the old key stays valid, from 0 to ${MAX_OVERLAP_HOURS}. With 0 it is revoked at once.`,
        validate: {
          schema: z
            .int('must be a whole number')
            .min(0, 'must not be negative')
            .max(MAX_OVERLAP_HOURS, `must be at most ${MAX_OVERLAP_HOURS}`),
        },
      }),
    },
    resolve: (_root, { id, overlapHours }, { caller, keys }) =>
      keys.rotate(caller(), id, overlapHours ?? 0),
  }),
);
