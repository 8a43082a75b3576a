import { z } from 'zod';
import { expected } from '../../text/input.ts';
import { DEFAULT_ENVIRONMENT, ENVIRONMENT_NAMES } from '../../vocabulary/environments.ts';
import { toLowerCase, toUpperCase } from '../../vocabulary/names.ts';

/** A bot in an environment, as the name of a model: `BOT`, or `BOT:staging`. */
export const modelName = z
  .string(expected('a string'))
  .transform(readModel)
  .meta({
    description: 'ID of the bot; `BOT:staging` is its staging deployment.',
    override: { type: 'string' },
    examples: ['demo'],
  });

export const modelParams = z.object({ model: modelName });

const MODEL_NAME = new RegExp(`^(.*):(${ENVIRONMENT_NAMES.join('|')})$`, 's');

function readModel(name: string) {
  const [, botId = name, environment] = MODEL_NAME.exec(name) ?? [];
  const named = ENVIRONMENT_NAMES.find((one) => one === environment);
  return { name, botId, environment: named && toUpperCase(named) };
}

/** What `modelName` reads. */
export type ModelName = ReturnType<typeof readModel>;

/** Unix time in seconds. */
export const unixTime = z
  .int()
  .meta({ description: 'Unix time in seconds.', examples: [1795262400] });

export const model = z
  .object({
    id: z.string().meta({ description: 'The value of `model` in requests.', examples: ['demo'] }),
    object: z.literal('model').meta({ description: 'Always `model`.' }),
    created: unixTime,
    owned_by: z.string().meta({ description: 'Name of the account.', examples: ['Example'] }),
  })
  .meta({ id: 'Model' });

export const models = z
  .object({
    object: z.literal('list').meta({ description: 'Always `list`.' }),
    data: z.array(model).meta({ description: 'The models, newest first.' }),
  })
  .meta({ id: 'ListModelsResponse' });

/** A deployed bot as a model. */
export function toModel(bot: {
  botId: string;
  environment: Parameters<typeof toLowerCase>[0];
  createdAt: Date;
  owner: string;
}): z.infer<typeof model> {
  const suffix = bot.environment === DEFAULT_ENVIRONMENT ? '' : `:${toLowerCase(bot.environment)}`;
  return {
    id: bot.botId + suffix,
    object: 'model',
    created: toUnixTime(bot.createdAt),
    owned_by: bot.owner,
  };
}

export function toUnixTime(date: Date): number {
  return Math.floor(date.getTime() / 1_000);
}
