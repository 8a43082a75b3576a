/** The exit codes of the command. */
export const EXIT = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** A refusal or failure that the message explains completely. The command exits with 1. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly exitCode: number = EXIT.failed;
}

/** A command line that cannot be run. The command exits with 2. */
export class UsageError extends Refusal {
  override name = 'UsageError';
  override readonly exitCode = EXIT.usage;
}

/** The user pressed Ctrl-C, or cancelled a prompt. The command exits with 130 and prints nothing. */
export class Interrupted extends Error {
  override name = 'Interrupted';
  constructor() {
    super('Interrupted.');
  }
}

/** The code of a system error, such as `ENOENT`. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}
