import { readErrorCode } from '../errors/errors.ts';
import type { Run } from '../generated/prisma/client.ts';
import { builder } from './builder.ts';
import { ErrorCodeEnum } from './error-code.ts';

export const RunError = builder.simpleObject('RunError', {
  description: 'Why a run failed.',
  fields: (t) => ({
    code: t.field({ type: ErrorCodeEnum, description: 'Error code.' }),
    message: t.string({ description: 'Human-readable explanation.' }),
    detail: t.string({
      nullable: true,
      description:
        'What the model’s server answered, such as its status and message, without the values of variables. Null if it answered nothing. Requires the scope RUNS, also in the response of the operation that started the run.',
      authScopes: { scope: 'RUNS' },
    }),
  }),
});

/** Selects and resolves the error that a run stores. */
export const STORED_ERROR = {
  select: { errorCode: true, errorMessage: true, errorDetail: true },
  resolve: ({ errorCode, errorMessage, errorDetail: detail }: StoredError) =>
    errorCode === null
      ? null
      : { code: readErrorCode(errorCode), message: errorMessage ?? '', detail },
} as const;
type StoredError = Pick<Run, 'errorCode' | 'errorMessage' | 'errorDetail'>;
