import { EXCERPT_LENGTH, readExcerpts } from '../runs/record/excerpts.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';
import { MAY_READ, RUN_SCOPE } from './run.ts';

/** One read loads both excerpts of all runs of a list. */
const loadExcerpts = batchLoader((runIds, _question: null, { prisma }) =>
  readExcerpts(prisma, runIds),
);

builder.prismaObjectFields('Run', (t) => ({
  inputExcerpt: t.string({
    description: `The first ${EXCERPT_LENGTH} characters of the message or prompt. ${RUN_SCOPE}`,
    authScopes: MAY_READ,
    resolve: async ({ id }, _args, context, info) =>
      (await loadExcerpts(id, null, context, info, info.path.prev))?.input ?? '',
  }),
  responseExcerpt: t.string({
    nullable: true,
    description: `The first ${EXCERPT_LENGTH} characters of the reply. ${RUN_SCOPE}`,
    authScopes: MAY_READ,
    resolve: async ({ id }, _args, context, info) =>
      (await loadExcerpts(id, null, context, info, info.path.prev))?.response ?? null,
  }),
}));
