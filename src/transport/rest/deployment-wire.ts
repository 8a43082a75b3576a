import { z } from 'zod';
import { definitionSource, deployMessage, envValue, MAX_ENV_VARS } from '../../text/input.ts';
import { CHANNEL_NAMES } from '../../vocabulary/channels.ts';
import { ENVIRONMENT_NAMES } from '../../vocabulary/environments.ts';
import { errorReply, nextCursor } from './replies.ts';
import {
  botParams,
  environment,
  environmentHeader,
  exampleId,
  listQuery,
  NOT_AN_OBJECT,
  oneOf,
  queryOf,
  repeatHeaders,
  variablesOf,
} from './wire.ts';

export const deploymentParams = botParams.extend({
  deployment_id: z
    .string()
    .meta({ description: 'Opaque ID of the deployment.', examples: [exampleId('dep')] }),
});

export const deployHeaders = repeatHeaders.extend(environmentHeader);

const note = deployMessage.optional().meta({
  description:
    'Note shown in the list of deployments, at most 1,000 characters, counted as UTF-16 code units.',
  examples: ['First release'],
});

export const deployBody = z
  .strictObject(
    {
      agentlang: definitionSource.meta({
        description:
          'Source of the definition in agentlang 5. A source of more than 256 KiB fails. Pass secrets in `env_vars`.',
        examples: [
          'agentlang 5\nagent "Order desk" {\n  description "Answers order questions"\n  prompt "You are the order desk of ACME."\n  channel web\n}\n',
        ],
      }),
      environment,
      message: note,
      skip_gate: z
        .boolean('must be true or false')
        .optional()
        .meta({
          description:
            'Whether the deployment becomes active without the gate of the bot. It then needs a `message`, and the scope ' +
            '`admin` too. Defaults to `false`.',
        }),
      env_vars: variablesOf(envValue.nullable()).meta({
        description:
          'Variables that the definition refers to as `env.NAME`, in addition to the variables of the active deployment. `null` ' +
          'removes a variable. A name has at most 128 letters, digits and `_`, and starts with no digit. A deployment ' +
          `has at most ${MAX_ENV_VARS} variables, with values of at most 32 KiB each and 64 KiB in total. ` +
          'Values are stored encrypted and never returned. A variable kept from the active deployment is sent only to ' +
          'URLs that already received it, compared up to the first template in their path.',
        examples: [{ ORDERS_KEY: 'a secret', OLD_KEY: null }],
      }),
    },
    NOT_AN_OBJECT,
  )
  .meta({ id: 'DeployRequest' });

/** The media types of a definition that is the whole body. */
export const SOURCE_TYPES = ['text/plain', 'application/vnd.parley.agent'] as const;

export const deployQuery = queryOf({
  environment: environment.meta({ description: 'As in the body, for a body of plain text.' }),
  message: note.meta({
    description: 'As in the body, for a body of plain text, at most 1,000 characters.',
  }),
  strict: oneOf('0', '1').meta({
    description:
      'With `1`, a failed deploy is answered with 400 and the error `definition_invalid`. Defaults to `0`.',
  }),
});

export const rollbackBody = z
  .strictObject({ message: note.meta({ examples: ['Back to what ran before'] }) }, NOT_AN_OBJECT)
  .meta({ id: 'RollbackRequest' })
  .default({});

export const deploymentsQuery = listQuery({
  environment: environment.meta({ description: 'Returns only deployments to this environment.' }),
  status: oneOf('pending', 'deployed', 'failed').meta({
    description: 'Returns only deployments with this status.',
  }),
});

const PARSE_ERROR =
  '7:5 unknown setting "temprature", did you mean "temperature"? [unknown-setting]';

const deploymentFacts = {
  deployment_id: z
    .string()
    .meta({ description: 'ID of the deployment.', examples: [exampleId('dep')] }),
  bot_id: z.string().meta({ description: 'ID of the bot.', examples: ['demo'] }),
  status: z.enum(['deployed', 'failed', 'pending']).meta({
    description:
      '`deployed`: the deployment succeeded. `failed`: nothing changed; `parse_errors` explains why. `pending`: a ' +
      'channel is still being connected, or the gate of the bot is not decided; what was active before stays active then.',
  }),
  deployed_at: z.iso.datetime().meta({
    description:
      'Time at which the attempt finished, or was accepted while it is pending. `status` says whether it succeeded.',
    examples: ['2026-11-20T12:00:00.000Z'],
  }),
  ended_at: z.iso
    .datetime()
    .nullable()
    .meta({
      description: 'Time at which the attempt ended, also if it failed. Null while it is pending.',
      examples: ['2026-11-20T12:00:00.000Z'],
    }),
  channels: z
    .array(z.enum(CHANNEL_NAMES))
    .meta({ description: 'Channels connected to the deployment.', examples: [['web']] }),
  parse_errors: z.array(z.string()).meta({
    description:
      'Every error in the source, and every failed case of the gate, with its line and column. Empty on success.',
    examples: [[], [PARSE_ERROR]],
  }),
  warnings: z.array(z.string()).meta({
    description: 'Warnings about the source. They do not prevent deployment.',
    examples: [[]],
  }),
};

const rolledBackTo = z
  .string()
  .nullable()
  .meta({ description: 'ID of the earlier deployment that a rollback copied.' });

export const deployReply = z.object(deploymentFacts).meta({ id: 'DeployReply' });

export const refusedDeployReply = deployReply
  .extend({
    status: z
      .literal('failed')
      .meta({ description: 'The deploy changed nothing.', examples: ['failed'] }),
    channels: deploymentFacts.channels.meta({ examples: [[]] }),
    parse_errors: deploymentFacts.parse_errors.meta({ examples: [[PARSE_ERROR]] }),
    error: errorReply.shape.error
      .extend({
        code: z.literal('definition_invalid').meta({
          description: 'Machine-readable error code.',
          examples: ['definition_invalid'],
        }),
        message: z.string().meta({
          description: 'The first error of the source, and the number of the others.',
          examples: [`Nothing was deployed: ${PARSE_ERROR}.`],
        }),
      })
      .meta({ description: 'Why nothing was deployed.' }),
  })
  .meta({
    id: 'RefusedDeploy',
    description: 'The failed deployment, with an error. Only with `strict`.',
  });

export const rollbackReply = z
  .object({
    ...deploymentFacts,
    rolled_back_to: rolledBackTo.meta({ examples: ['dep_01m79x4c1hf6kvt3q8ys2e5rwd'] }),
  })
  .meta({ id: 'RollbackReply' });

export const deploymentsReply = z
  .object({
    deployments: z
      .array(
        z
          .object({
            ...deploymentFacts,
            environment: z
              .enum(ENVIRONMENT_NAMES)
              .meta({ description: 'Environment of the deployment.' }),
            message: z
              .string()
              .nullable()
              .meta({
                description: 'Note from the deployer.',
                examples: ['First release'],
              }),
            active: z
              .boolean()
              .meta({ description: 'Whether this is the active deployment of its environment.' }),
            rolled_back_to: rolledBackTo,
          })
          .meta({ id: 'Deployment' }),
      )
      .meta({ description: 'Deployments, newest first.' }),
    next_cursor: nextCursor(),
  })
  .meta({ id: 'DeploymentList' });
