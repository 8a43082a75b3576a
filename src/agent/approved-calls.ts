import type { RunningDeployment } from '../deployments/active.ts';
import { GatewayError, invalidInput } from '../errors/errors.ts';
import type { Log } from '../observability/log.ts';
import { digestOfApproved } from '../runs/tool-calls/ask.ts';
import type { ToolRequest } from '../runs/tool-calls/tool-call.ts';
import type { JsonObject } from '../text/json.ts';
import { createSendCall, redactedRequest, type SentCall } from './send-call.ts';
import { parseArguments } from './tools/arguments.ts';
import type { ToolGroups } from './tools/groups.ts';
import { ToolError } from './tools/tool.ts';

/** A call to make again from what is stored of it. */
export type StoredCall = {
  deployment: RunningDeployment;
  /** `<group>.<capability>` */
  name: string;
  /** The text of a JSON object. */
  arguments: string;
  /** The template values that its request uses. */
  values: JsonObject;
};

/** A call that is ready to be sent. */
export type ReadyCall = {
  /** From `digestOfApproved`. */
  digest: string;
  /** The request, without values of variables. */
  request: ToolRequest | null;
  /** Whether the call may be sent again if its outcome is unknown. */
  isRepeatable: boolean;
  /** @param idempotencyKey the request's `Idempotency-Key`. */
  send(idempotencyKey: string): Promise<SentCall>;
};

/** Makes the calls that a person has approved. */
export type ApprovedCalls = {
  /**
   * Prepares a call.
   *
   * @param signal aborts the preparation and the call.
   * @throws GatewayError `tool_gone` if the deployment or its tool server no longer has the tool, or a variable of the
   *   request, or if the tool server does not answer; `invalid_request` if the arguments do not fit the declaration of the tool.
   */
  prepare(call: StoredCall, signal: AbortSignal): Promise<ReadyCall>;
};

export function createApprovedCalls({
  toolGroups,
  log,
}: {
  toolGroups: Pick<ToolGroups, 'findOne'>;
  log: Log;
}): ApprovedCalls {
  return {
    async prepare({ deployment, name, arguments: text, values }, signal) {
      const { deploymentId, redactor } = deployment;
      const { send } = createSendCall({ redactor, log });
      try {
        const tool = await toolGroups.findOne(deployment, name, { signal, values });
        if (!tool) throw new GatewayError('tool_gone', `There is no tool "${name}" any more.`);
        const prepared = tool.prepare(parseArguments(text), { signal, values });
        return {
          digest: digestOfApproved({ deploymentId, name, arguments: text, ...prepared }),
          request: redactedRequest(prepared, redactor),
          isRepeatable: tool.effect !== 'changes',
          send: (idempotencyKey) => send(tool, prepared, idempotencyKey, signal),
        };
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        const message = redactor.redact(error.message);
        if (error.type === 'invalid_arguments')
          throw invalidInput([{ path: 'arguments', message }]);
        throw new GatewayError('tool_gone', `The call cannot be made. ${message}`);
      }
    },
  };
}
