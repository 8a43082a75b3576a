import type { ReplyEnd } from '../runs/record/events.ts';
import { builder } from './builder.ts';

export const REPLY_END = 'How the run ended.';

export const ReplyEndObject = builder.objectRef<ReplyEnd>('ReplyEnd').implement({
  description: 'How a completed run ended.',
  fields: (t) => ({
    deploymentId: t.exposeID('deploymentId', {
      nullable: true,
      description: 'ID of the deployment that answered. Null for a draft.',
    }),
    finishReason: t.exposeString('finishReason', {
      nullable: true,
      description: 'Why the model ended its last answer, as `Run.finishReason`.',
    }),
    promptTokens: t.exposeInt('promptTokens', {
      description: 'Number of tokens sent to the model.',
    }),
    completionTokens: t.exposeInt('completionTokens', {
      description: 'Number of tokens that the model generated.',
    }),
    cachedTokens: t.exposeInt('cachedTokens', {
      nullable: true,
      description:
        'Number of tokens in the prompts that came from a cache of the model’s server. Null if it reported none.',
    }),
    reasoningTokens: t.exposeInt('reasoningTokens', {
      nullable: true,
      description:
        'Number of generated tokens that are reasoning. Null if the model’s server reported none.',
    }),
  }),
});
