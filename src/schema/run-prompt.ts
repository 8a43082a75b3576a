import type { PromptPart, SentPrompt } from '../agent/sent-prompt.ts';
import { GatewayError } from '../errors/errors.ts';
import { HIGHEST_PRICE } from './admission/points.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';
import { demandIn, fieldsAt } from './selection.ts';

const PromptStepEnum = builder.enumType('PromptStep', {
  description:
    'The step that added a part to the prompt. The spans of the trace are `load_history`, `inject_memory`, `merge_context` and `send_to_model` (CALL_MODEL).',
  values: {
    LOAD_HISTORY: {
      value: 'load_history',
      description: 'Load history: messages of earlier turns.',
    },
    INJECT_MEMORY: { value: 'inject_memory', description: 'Inject memory: facts about the user.' },
    MERGE_CONTEXT: {
      value: 'merge_context',
      description: 'Merge context: the context of the request.',
    },
    CALL_MODEL: {
      value: 'send_to_model',
      description: 'Call model: the prompt of the definition, and the message.',
    },
  } as const,
});

const PromptRoleEnum = builder.enumType('PromptRole', {
  description: 'Role of a part of the prompt.',
  values: {
    SYSTEM: { description: 'A part of the system prompt.' },
    USER: { description: 'A message of the user.' },
    ASSISTANT: { description: 'A message of the bot.' },
    TOOL: { description: 'The result of a tool.' },
  } as const,
});

const PromptPartObject = builder.objectRef<PromptPart>('PromptPart').implement({
  description: 'A part of the first request of a run to the model.',
  fields: (t) => ({
    step: t.expose('step', { type: PromptStepEnum, description: 'The step that added the part.' }),
    role: t.expose('role', { type: PromptRoleEnum, description: 'Role of the part.' }),
    text: t.string({
      nullable: true,
      description:
        'Text of the part. Null for the prompt of the definition without the scope DEPLOY, as for its source.',
      resolve: ({ text, isSource }, _args, { caller }) =>
        isSource && !caller().key.scopes.includes('DEPLOY') ? null : text,
    }),
  }),
});

const RunPrompt = builder.objectRef<SentPrompt>('RunPrompt').implement({
  description: 'The first request of a run to the model, in its parts and in their order.',
  fields: (t) => ({
    parts: t.expose('parts', { type: [PromptPartObject], description: 'The parts.' }),
    complete: t.exposeBoolean('complete', {
      description:
        'Whether all parts are still stored. History is deleted with its runs, and facts of more than 64 KiB are not stored.',
    }),
  }),
});

/** Loads the prompt of the only run at a path of the response. */
const loadPrompt = batchLoader(async (runIds, _question: null, context, { info, timesOf }) => {
  const [runId = '', ...others] = runIds;
  if (others.length > 0) throw manyRuns(runIds.length);
  const texts = fieldsAt(info, ['parts'], ['text']).length;
  const { sentPrompts, longRead, readBudget } = context;
  const budget = readBudget();
  const prompt = await budget.inTurn(async () => {
    const read = await longRead(() => sentPrompts.read(runId));
    const parts = read?.parts ?? [];
    const bytes = parts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    const entries = parts.length * demandIn(info, context).entryBytes;
    budget.spend((bytes * texts + entries) * timesOf(runId), 1);
    return read;
  });
  return () => prompt;
});

function manyRuns(count: number): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The operation requests the prompts of ${count} runs. \`Run.prompt\` is available for one run at a time: request it by \`run(id:)\`, or on a page with one run.`,
  );
}

builder.prismaObjectField('Run', 'prompt', (t) =>
  t.field({
    type: RunPrompt,
    nullable: true,
    description: `The first request of the run to the model, without values of variables. Null if the prompt was not stored or has been deleted. Available for one run at a time: by \`run(id:)\`, or on a page with one run. ${HIGHEST_PRICE} Requires the scope RUNS, also in the response of the operation that started the run.`,
    authScopes: { scope: 'RUNS' },
    resolve: ({ id }, _args, context, info) => loadPrompt(id, null, context, info),
  }),
);
