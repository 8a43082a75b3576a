import { keyIdOf } from '../accounts/caller.ts';
import type { RunRequest, StartedRun } from '../execution/started-run.ts';
import type { Environment, OnDisconnect } from '../generated/prisma/client.ts';
import { formerNamespaceOf, namespaceOf } from '../idempotency/key.ts';
import { isJsonObject } from '../text/json.ts';
import { DEFAULT_ENVIRONMENT } from '../vocabulary/environments.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';

export const OnDisconnectEnum = builder.enumType('OnDisconnect', {
  description: 'What happens to a run when its last subscriber disconnects.',
  values: {
    CANCEL: { description: 'Cancels the run. The run keeps the text generated so far.' },
    CONTINUE: { description: 'The run continues without a subscriber and is stored.' },
  } as const,
});

export const ON_DISCONNECT =
  'What happens to the run when its last subscriber disconnects. Defaults to CONTINUE with an idempotencyKey, otherwise to CANCEL.';
export const IDEMPOTENCY_KEY =
  'Key that makes retries safe, 1 to 255 visible ASCII characters. For 24 hours, the same request with this key returns the first run, even while it is active; a different request fails with IDEMPOTENCY_CONFLICT.';

/** The input fields that every operation which starts a run has. */
type RunInput = {
  context?: unknown;
  environment?: Environment | null | undefined;
  onDisconnect?: OnDisconnect | null | undefined;
  idempotencyKey?: string | null | undefined;
};

/** The request that starts a run. */
export function requestOf(
  botId: string,
  input: RunInput,
  { caller, session, botVersion, traceparent }: Context,
): RunRequest {
  const { id: accountId, plan } = caller().account;
  return {
    accountId,
    keyId: keyIdOf(caller()),
    plan,
    botId,
    botVersion: botVersion(botId),
    environment: input.environment ?? DEFAULT_ENVIRONMENT,
    channel: session()?.channel ?? 'API',
    context: isJsonObject(input.context) ? input.context : undefined,
    onDisconnect: input.onDisconnect ?? undefined,
    idempotencyKey: input.idempotencyKey ?? undefined,
    idempotencyNamespace: namespaceOf(caller(), botId),
    formerIdempotencyNamespace: formerNamespaceOf(caller()),
    traceparent,
  };
}

/** Reports the run in the response headers and lets the operation read the contents of the run. */
export function answeredBy(run: StartedRun, { setHeader, openRun }: Context): StartedRun {
  openRun(run.id);
  setHeader('X-Run-Id', run.id);
  if (run.isReplayed) setHeader('Idempotency-Replayed', 'true');
  return run;
}
