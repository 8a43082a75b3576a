import type { RunningDeployment } from '../deployments/active.ts';
import { GatewayError } from '../errors/errors.ts';
import type { Definition, EnvReference } from '../language/definition.ts';
import type { Model } from '../model/model.ts';
import type { Models } from '../model/models.ts';
import { isHeaderValue } from './tools/headers.ts';

/** Whether a definition names a model server or a key, so that its model is not the operator's. */
export function hasOwnServer({ definition: { model } }: RunningDeployment): boolean {
  return model.baseUrl !== undefined || model.apiKey !== undefined;
}

/**
 * The host and port of the model server that a definition names, if its source has the URL: a variable or the operator may
 * keep it secret.
 */
export function writtenHost({ model: { baseUrl } }: Definition): string | undefined {
  return typeof baseUrl === 'string' ? URL.parse(baseUrl)?.host : undefined;
}

/**
 * Opens the model that a deployment names, with the values of its variables.
 *
 * @throws GatewayError `model_error` if a variable of the model is not set, or does not hold a valid key.
 */
export function openModel(
  models: Models,
  { accountId, definition, variables }: RunningDeployment,
): Model {
  const { baseUrl, apiKey } = definition.model;
  const resolved = (setting: string | EnvReference | undefined) => {
    if (setting === undefined || typeof setting === 'string') return setting;
    const value = variables[setting.env];
    if (value !== undefined) return value;
    throw new GatewayError('model_error', `The variable ${setting.env} of the model is not set.`);
  };
  const key = resolved(apiKey)?.trim();
  if (key === undefined || (key !== '' && isHeaderValue(key))) {
    return models.at({ baseUrl: resolved(baseUrl), apiKey: key }, accountId);
  }
  const message = `The variable ${apiKey?.env} of the model does not hold a valid API key.`;
  throw new GatewayError('model_error', message);
}

/** The model that a deployment uses, as traces name it. */
export function modelOf(
  models: Models,
  deployment: RunningDeployment,
): { name: string; provider: Model['provider'] } {
  const { model } = deployment.definition;
  const isOwn = hasOwnServer(deployment);
  const standard = models.at({});
  return {
    name: (isOwn && model.name) || standard.nameFor(model.name),
    provider: isOwn ? 'openai' : standard.provider,
  };
}
