import { actorOf } from '../accounts/audit.ts';
import type { DeployCheckRequest, DeployTarget } from '../deployments/request.ts';
import type { AnsweringDeployment } from '../idempotency/deployments.ts';
import { namespaceOf } from '../idempotency/key.ts';
import {
  definitionSource,
  deployMessage,
  envName,
  envValue,
  idempotencyKey,
  listOf,
  MAX_ENV_VARS,
} from '../text/input.ts';
import { DEFAULT_ENVIRONMENT } from '../vocabulary/environments.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { DeploymentNode } from './deployment.ts';
import { EnvironmentEnum } from './shared.ts';

export const EnvVarInput = builder.inputType('EnvVarInput', {
  description: 'An environment variable. The definition refers to it as `env.NAME`.',
  fields: (t) => ({
    name: t.string({
      required: true,
      description:
        'Name of the variable: at most 128 letters, digits and "_". It does not start with a digit.',
      validate: { schema: envName },
    }),
    value: t.string({
      required: true,
      description: 'Value of the variable, at most 32 KiB. Stored encrypted and never returned.',
      validate: { schema: envValue },
    }),
  }),
});

const IDEMPOTENCY_KEY =
  'Key that makes retries safe, 1 to 255 visible ASCII characters. For 24 hours, the same request with this key returns the first deployment; a different request fails with IDEMPOTENCY_CONFLICT.';

const SKIP_GATE =
  'Whether the deployment becomes active without the gate of the bot. It then needs a `message`, and the scope ADMIN too; the audit log has an entry SKIP_GATE. Defaults to false.';

export const DeployInput = builder.inputType('DeployInput', {
  description: 'Parameters of a deployment.',
  fields: (t) => ({
    source: t.string({
      required: true,
      description: 'Source of the definition in agentlang 5, at most 256 KiB.',
      validate: { schema: definitionSource },
    }),
    environment: t.field({
      type: EnvironmentEnum,
      description: 'Environment to deploy to. Defaults to PRODUCTION.',
    }),
    message: t.string({
      description: 'Note shown in the list of deployments, at most 1,000 characters.',
      validate: { schema: deployMessage },
    }),
    envVars: t.field({
      type: [EnvVarInput],
      description:
        'Variables to set, in addition to the variables of the active deployment. A deployment has at most 200 variables with 64 KiB of values in total. A variable kept from the active deployment is sent only to URLs that already received it, compared up to the first template in their path.',
      validate: { maxLength: [MAX_ENV_VARS, { message: `must be at most ${MAX_ENV_VARS}` }] },
    }),
    unsetEnvVars: t.stringList({
      description: `Names of variables to remove, at most ${MAX_ENV_VARS}.`,
      validate: { schema: listOf(envName, MAX_ENV_VARS) },
    }),
    skipGate: t.boolean({ description: SKIP_GATE }),
    idempotencyKey: t.string({
      description: IDEMPOTENCY_KEY,
      validate: { schema: idempotencyKey },
    }),
  }),
});

function namesEachVariableOnce({ envVars, unsetEnvVars }: typeof DeployInput.$inferInput) {
  const names = [...(envVars ?? []).map(({ name }) => name), ...(unsetEnvVars ?? [])];
  return new Set(names).size === names.length;
}

/** The arguments of a deploy and of its check. */
export const deployArguments = builder.args((t) => ({
  botId: t.id({ required: true, description: 'ID of the bot.' }),
  input: t.field({
    type: DeployInput,
    required: true,
    description: 'Parameters of the deployment.',
    validate: { refine: [namesEachVariableOnce, { message: 'must name each variable once' }] },
  }),
}));

/** The part of a deploy's arguments that decides on it. */
export function deployRequest(
  botId: string,
  { environment, source, envVars, unsetEnvVars }: typeof DeployInput.$inferInput,
): DeployCheckRequest {
  return {
    botId,
    environment: environment ?? DEFAULT_ENVIRONMENT,
    source,
    envVars: Object.fromEntries((envVars ?? []).map(({ name, value }) => [name, value])),
    unsetEnvVars: unsetEnvVars ?? [],
  };
}

/** Who may deploy. Skipping the gate also requires the scope ADMIN. */
function mayDeploy(botId: string, { skipGate }: { skipGate?: boolean | null | undefined }) {
  return {
    $all: {
      bot: { id: botId, scope: 'DEPLOY' as const },
      ...(skipGate && { scope: 'ADMIN' as const }),
    },
  };
}

builder.mutationField('deploy', (t) =>
  t.field({
    type: DeploymentNode,
    description:
      'Deploys a definition; the next request uses it. A definition with errors changes nothing: its deployment has the status FAILED and diagnostics. If the bot has a gate, a deployment to PRODUCTION is PENDING until the gate is decided, and what was active before stays active. Requires the scope DEPLOY.',
    authScopes: (_root, { botId, input }) => mayDeploy(botId, input),
    args: deployArguments,
    resolve: (_root, { botId, input }, context) =>
      deploy(context, { action: 'DEPLOY', ...deployRequest(botId, input) }, input),
  }),
);

const redeployArguments = builder.args((t) => ({
  botId: t.id({ required: true, description: 'ID of the bot.' }),
  message: t.string({
    description: 'Note shown in the list of deployments, at most 1,000 characters.',
    validate: { schema: deployMessage },
  }),
  idempotencyKey: t.string({
    description: IDEMPOTENCY_KEY,
    validate: { schema: idempotencyKey },
  }),
}));

builder.mutationField('rollback', (t) =>
  t.field({
    type: DeploymentNode,
    description:
      'Creates a deployment with the source, environment and variables of an earlier one. It passes no gate. Requires the scope DEPLOY. Errors: DEPLOYMENT_NOT_FOUND, DEPLOYMENT_NOT_DEPLOYABLE.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'DEPLOY' } }),
    args: {
      deploymentId: t.arg.id({
        required: true,
        description: 'ID of a deployment of the bot whose status is DEPLOYED.',
      }),
      ...redeployArguments,
    },
    resolve: (_root, { botId, deploymentId, ...options }, context) =>
      deploy(context, { action: 'ROLLBACK', botId, deploymentId }, options),
  }),
);

builder.mutationField('promote', (t) =>
  t.field({
    type: DeploymentNode,
    description:
      'Deploys the source of a STAGING deployment to PRODUCTION, with the variables of PRODUCTION. If the bot has a gate, the deployment is PENDING until the gate is decided. Requires the scope DEPLOY. Errors: DEPLOYMENT_NOT_FOUND, DEPLOYMENT_NOT_DEPLOYABLE.',
    authScopes: (_root, { botId, ...options }) => mayDeploy(botId, options),
    args: {
      deploymentId: t.arg.id({
        required: true,
        description: 'ID of a deployment to STAGING whose status is DEPLOYED.',
      }),
      skipGate: t.arg.boolean({ description: SKIP_GATE }),
      ...redeployArguments,
    },
    resolve: (_root, { botId, deploymentId, ...options }, context) =>
      deploy(context, { action: 'PROMOTE', botId, deploymentId }, options),
  }),
);

/** Deploys for the caller. Marks the response when it returns an earlier request's deployment. */
async function deploy(
  context: Context,
  target: DeployTarget,
  options: { message?: string | null; idempotencyKey?: string | null; skipGate?: boolean | null },
): Promise<AnsweringDeployment> {
  const { message, idempotencyKey: key } = options;
  const skipGate = options.skipGate ?? false;
  const caller = context.caller();
  const namespace = namespaceOf(caller, target.botId);
  const idempotency = key == null ? undefined : { accountId: caller.account.id, namespace, key };
  const request = { ...target, message, skipGate, idempotency, actor: actorOf(caller) };
  const deployment = await context.deploy(request);
  if (deployment.isReplayed) context.setHeader('Idempotency-Replayed', 'true');
  return deployment;
}
