import type { Redactor } from '../../redaction/redact.ts';
import { ToolError } from './tool.ts';

/** Does some work. @throws ToolError with a message without values of variables. */
export function withoutSecrets<Result>(redactor: Redactor, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const { message, type } = error;
    throw new ToolError(redactor.redact(message), { cause: error, type });
  }
}
