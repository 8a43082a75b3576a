import { isJsonObject } from '../text/json.ts';
import { builder } from './builder.ts';
import { MAY_READ, RUN_SCOPE, RUN_TEXTS } from './run.ts';

builder.prismaObjectField('Run', 'context', (t) =>
  t.field({
    type: 'JSON',
    nullable: true,
    description: `The \`context\` of the request. Null if the request had none, or if the prompt was not stored or has been deleted. ${RUN_SCOPE}`,
    authScopes: MAY_READ,
    // The prompt contains the context, so both are visible for the same time.
    select: { id: true, prompt: { select: { runId: true } } },
    resolve: async ({ id, prompt }, _args, context, info) => {
      if (prompt === null) return null;
      const stored = await RUN_TEXTS.read({ id }, 'context', context, info);
      return isJsonObject(stored) ? stored : null;
    },
  }),
);
