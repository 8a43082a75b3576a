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
    .meta({ description: "The deployment's id.", examples: [exampleId('dep')] }),
});

const note = deployMessage.optional().meta({
  description: 'A note on the deployment, of at most 1,000 characters.',
  examples: ['First release'],
});

export const deployBody = z
  .object(
    {
      agentlang: definitionSource.meta({
        description: "The definition's source, in agentlang 5. Secrets stay out of it.",
        examples: [
          'agentlang 5\nagent "Order desk" {\n  description "Answers order questions"\n  prompt "You are the order desk of ACME."\n  channel web\n}\n',
        ],
      }),
      environment,
      message: note,
      env_vars: z
        .record(envName, envValue.nullable(), {
          error: ({ code, issues }) =>
            code === 'invalid_key' ? issues?.[0]?.message : 'must be an object of texts',
        })
        .default({})
        .superRefine((variables, { issues, addIssue }) => {
          // Those with a name that is none are not among them any more.
          const nameless = issues.filter(({ code }) => code === 'invalid_key');
          if (Object.keys(variables).length + nameless.length > MAX_ENV_VARS)
            addIssue(`must be at most ${MAX_ENV_VARS}`);
        }, ofObject)
        .meta({
          description:
            'Variables that the definition names as `env.NAME`, laid over those of the deployment before: encrypted, ' +
            `and never readable again. \`null\` takes one out. A deployment has at most ${MAX_ENV_VARS}, of 32 KiB each ` +
            'and 64 KiB together. One whose value is carried over goes to no server that it was not sent to before.',
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
  environment: environment.meta({ description: 'Only deployments to this environment.' }),
  status: oneOf('pending', 'deployed', 'failed').meta({
    description: 'Only deployments of this status.',
  }),
});
