import type { Model } from '../model/model.ts';
import { createOfflineModel } from '../model/offline.ts';
import { createOpenAIModel } from '../model/openai.ts';
import type { Config } from './config.ts';

/** Milliseconds between two words of the offline model, slow enough for a person to see the streaming. */
const OFFLINE_PACE_MS = 20;

/** Creates the operator's model. */
export function modelOf({ model }: Pick<Config, 'model'>): Model {
  if (model === undefined) return createOfflineModel({ pace: OFFLINE_PACE_MS });
  return createOpenAIModel({ ...model, defaultModel: model.name });
}
