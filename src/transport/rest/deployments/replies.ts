import { z } from 'zod';
import { nextCursor } from '../replies.ts';
import { exampleId } from '../wire.ts';

const deploymentFacts = {
  deployment_id: z
    .string()
    .meta({ description: 'ID of the deployment.', examples: [exampleId('dep')] }),
  bot_id: z.string().meta({ description: 'ID of the bot.', examples: ['demo'] }),
  status: z.enum(['deployed', 'failed', 'pending']).meta({
    description:
      '`deployed`: the deployment succeeded. `failed`: nothing changed; `parse_errors` explains why. `pending`: a ' +
      'channel is still being connected.',
  }),
  deployed_at: z.iso.datetime().meta({
    description: 'Time at which the attempt finished, or was accepted while it is pending.',
    examples: ['2026-11-20T12:00:00.000Z'],
  }),
  channels: z
    .array(z.enum(['api', 'web', 'telegram']))
    .meta({ description: 'Channels connected to the deployment.', examples: [['web']] }),
  parse_errors: z.array(z.string()).meta({
    description: 'Every error in the source, with its line and column. Empty on success.',
    examples: [
      [],
      ['7:5 unknown setting "temprature", did you mean "temperature"? [unknown-setting]'],
    ],
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
            environment: z.enum(['production', 'staging']),
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
