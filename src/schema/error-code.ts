import { ERROR_CODES, ERRORS } from '../errors/errors.ts';
import { builder } from './builder.ts';

const values = Object.fromEntries(
  ERROR_CODES.map((code) => [
    code.toUpperCase(),
    { value: code, description: ERRORS[code].meaning },
  ]),
);

/** The error codes of runs and their events. Resolvers return the code as the domain has it, in lower case. */
export const ErrorCodeEnum = builder.enumType('ErrorCode', {
  description:
    'Error code of a run. The codes in `extensions.code` of failed operations are the same.',
  values,
});
