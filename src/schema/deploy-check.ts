import type { DeployCheck } from '../deployments/deploy-check.ts';
import { HIGHEST_PRICE } from './admission/points.ts';
import { builder } from './builder.ts';
import { deployArguments, deployRequest } from './deploy.ts';
import { DiagnosticObject } from './shared.ts';

const DeployCheckObject = builder.objectRef<DeployCheck>('DeployCheck').implement({
  description: 'Result that a deploy with the same input would have now.',
  fields: (t) => ({
    deployable: t.exposeBoolean('isDeployable', {
      description: 'Whether the deployment would become active. Otherwise it would be FAILED.',
    }),
    diagnostics: t.field({
      type: [DiagnosticObject],
      description:
        'Errors and warnings, in source order. A check contacts no other service, so problems that tool servers and the services of channels would report are missing.',
      resolve: ({ diagnostics }) => diagnostics,
    }),
    envNames: t.exposeStringList('envNames', {
      description: 'Environment variables that the definition refers to, in alphabetical order.',
    }),
    setEnvNames: t.exposeStringList('set', {
      description: 'Names of the variables whose values are in the input.',
    }),
    carriedOverEnvNames: t.exposeStringList('carriedOver', {
      description: 'Names of the variables that would keep the values of the active deployment.',
    }),
    removedEnvNames: t.exposeStringList('removed', {
      description:
        'Names of the variables of the active deployment that the deployment would not have.',
    }),
    missingEnvNames: t.exposeStringList('missing', {
      description: 'Names of the variables that the definition refers to and that have no value.',
    }),
  }),
});

builder.queryField('checkDeploy', (t) =>
  t.field({
    type: DeployCheckObject,
    description: `Checks a deploy without deploying. The message and the idempotency key of the input have no effect. ${HIGHEST_PRICE} Requires the scope DEPLOY.`,
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'DEPLOY' } }),
    args: deployArguments,
    resolve: (_root, { botId, input }, { deployChecks }) =>
      deployChecks.checkDeploy(deployRequest(botId, input)),
  }),
);
