import type { DeployReply, Diagnostic } from './deployments.ts';
import { DeployError } from './errors.ts';
import { header } from './failure.ts';
import { fromWire } from './wire.ts';

/** Reads the response to a deploy or a rollback. @throws DeployError if nothing was deployed. */
export function deployed<Reply extends DeployReply>(body: unknown, response: Response): Reply {
  const deployment = fromWire(body) as Reply;
  if (deployment.status !== 'failed') return deployment;
  const [first, ...others] = deployment.parseErrors;
  const more = others.length > 0 ? `, and ${others.length} more` : '';
  throw new DeployError({
    message: `Nothing was deployed: ${first}${more}.`,
    code: 'definition_invalid',
    status: response.status,
    requestId: header(response, 'x-request-id'),
    diagnostics: deployment.parseErrors.map(diagnosticOf),
    deployment,
  });
}

/** Reads `LINE:COLUMN message [code]`. */
function diagnosticOf(text: string): Diagnostic {
  const [, line, column, message = text, code = ''] =
    /^(\d+):(\d+) (.*) \[([\w-]+)\]$/s.exec(text) ?? [];
  return { line: Number(line ?? 1), column: Number(column ?? 1), message, code };
}
