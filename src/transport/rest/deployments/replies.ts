import { z } from 'zod';
import { nextCursor } from '../replies.ts';
import { exampleId } from '../wire.ts';

const deploymentFacts = {
  deployment_id: z
    .string()
    .meta({ description: "The deployment's id.", examples: [exampleId('dep')] }),
  bot_id: z.string().meta({ description: 'The bot deployed.', examples: ['demo'] }),
  status: z.enum(['deployed', 'failed', 'pending']).meta({
    description:
      '`deployed`: it runs from now on. `failed`: nothing has changed, and `parse_errors` says why. `pending`: a ' +
      'channel is still being connected.',
  }),
  deployed_at: z.iso.datetime().meta({
    description: 'When the attempt ended, or was accepted while it is pending.',
    examples: ['2026-11-20T12:00:00.000Z'],
  }),
  channels: z
    .array(z.enum(['api', 'web', 'telegram']))
    .meta({ description: 'The channels that run it now.', examples: [['web']] }),
  parse_errors: z.array(z.string()).meta({
    description: 'Every mistake in the source, with its line and column; empty on success.',
    examples: [
      [],
      ['7:5 unknown setting "temprature", did you mean "temperature"? [unknown-setting]'],
    ],
  }),
  warnings: z.array(z.string()).meta({
    description: 'What is to be looked at, and keeps nothing from running.',
    examples: [[]],
  }),
};

const rolledBackTo = z
  .string()
  .nullable()
  .meta({ description: 'The earlier deployment that a rollback repeated.' });

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
                description: "The deployer's note.",
                examples: ['First release'],
              }),
            active: z.boolean().meta({ description: 'Whether this is the one that runs.' }),
            rolled_back_to: rolledBackTo,
          })
          .meta({ id: 'Deployment' }),
      )
      .meta({ description: 'Newest first.' }),
    next_cursor: nextCursor(),
  })
  .meta({ id: 'DeploymentList' });
