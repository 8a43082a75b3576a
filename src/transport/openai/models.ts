import { ListModels, ReadModel } from '../../generated/operations/openai.ts';
import { route } from '../rest/route.ts';
import { model, modelParams, models, toModel } from './model-wire.ts';
import { anyQuery, noParams } from './openai-wire.ts';

/** Routes that list deployed bots as models. Source: OpenAI's API reference, "Models". */
export const modelRoutes = [
  route({
    method: 'GET',
    path: '/models',
    id: 'listModels',
    tag: 'OpenAI',
    summary: 'List models',
    description:
      'Returns the deployed bots that the key may use; `BOT:staging` is a staging deployment.',
    scope: 'CHAT',
    errors: [],
    input: { params: noParams, query: anyQuery },
    toVariables: () => ({ variables: {} }),
    json: {
      operation: ListModels,
      schema: models,
      reply: ({ models }) => ({ object: 'list' as const, data: models.map(toModel) }),
    },
  }),
  route({
    method: 'GET',
    path: '/models/:model',
    id: 'retrieveModel',
    tag: 'OpenAI',
    summary: 'Retrieve a model',
    scope: 'CHAT',
    errors: ['model_not_found'],
    input: { params: modelParams, query: anyQuery },
    toVariables: ({ params: { model } }) => ({
      variables: { botId: model.botId, environment: model.environment },
    }),
    json: { operation: ReadModel, schema: model, reply: ({ model }) => toModel(model) },
  }),
];
