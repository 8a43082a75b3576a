import { z } from 'zod';
import {
  definitionSource,
  deployMessage,
  envName,
  envValue,
  MAX_ENV_VARS,
} from '../../../input.ts';
import { ofObject } from '../../../json.ts';
import { botParams, environment, exampleId, listQuery, NOT_AN_OBJECT, oneOf } from '../wire.ts';

export const deploymentParams = botParams.extend({
  deployment_id: z
    .string()
    .meta({ description: 'ID of the deployment.', examples: [exampleId('dep')] }),
});

const note = deployMessage.optional().meta({
  description: 'Note shown in the list of deployments, at most 1,000 characters.',
  examples: ['First release'],
});

export const deployBody = z
  .object(
    {
      agentlang: definitionSource.meta({
        description: 'Source of the definition in agentlang 5. Pass secrets in `env_vars`.',
        examples: [
          'agentlang 5\nagent "Order desk" {\n  description "Answers order questions"\n  prompt "You are the order desk of ACME."\n  channel web\n}\n',
        ],
      }),
      environment,
      message: note,
      env_vars: z
        .record(envName, envValue.nullable(), {
          error: ({ code, issues }) =>
            code === 'invalid_key' ? issues?.[0]?.message : 'must be an object with string values',
        })
        .default({})
        .superRefine((variables, { issues, addIssue }) => {
          // zod has already dropped the variables with invalid names.
          const nameless = issues.filter(({ code }) => code === 'invalid_key');
          if (Object.keys(variables).length + nameless.length > MAX_ENV_VARS)
            addIssue(`must be at most ${MAX_ENV_VARS}`);
        }, ofObject)
        .meta({
          description:
            'Variables that the definition refers to as `env.NAME`, on top of those of the active deployment. `null` ' +
            `removes a variable. A deployment has at most ${MAX_ENV_VARS} variables, of 32 KiB each and 64 KiB in total. ` +
            'Values are stored encrypted and never returned. A variable kept from the active deployment is sent only to ' +
            'servers that already received it.',
          examples: [{ ORDERS_KEY: 'a secret', OLD_KEY: null }],
        }),
    },
    NOT_AN_OBJECT,
  )
  .meta({ id: 'DeployRequest' });

export const rollbackBody = z
  .object({ message: note.meta({ examples: ['Back to what ran before'] }) }, NOT_AN_OBJECT)
  .meta({ id: 'RollbackRequest' })
  .default({});

export const deploymentsQuery = listQuery({
  environment: environment.meta({ description: 'Returns only deployments to this environment.' }),
  status: oneOf('pending', 'deployed', 'failed').meta({
    description: 'Returns only deployments with this status.',
  }),
});
