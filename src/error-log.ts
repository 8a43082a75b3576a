import { GraphQLError } from 'graphql';

/** What a line of the log says of an error. */
export type LoggedError = { type: string; message: string; stack: string; [name: string]: unknown };

/**
 * An error as the log has it: without what it quotes. Prisma's errors print the arguments of a query, which hold
 * messages and secrets, in all but their last line.
 */
export function errorForLog(error: unknown): LoggedError {
  const original = error instanceof GraphQLError ? (error.originalError ?? error) : error;
  if (!(original instanceof Error)) return { type: typeof original, message: '', stack: '' };
  const { name, message, stack = '', cause } = original;
  const code = 'code' in original ? original.code : undefined;
  return {
    type: name,
    ...(code !== undefined && { code }),
    message: name.startsWith('Prisma') ? (message.trimEnd().split('\n').pop() ?? '') : message,
    stack: stack
      .split('\n')
      .filter((line) => line.startsWith('    at '))
      .join('\n'),
    ...(cause !== undefined && { cause: errorForLog(cause) }),
  };
}
