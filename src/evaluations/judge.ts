import { openModel } from '../agent/open-model.ts';
import { readOutput } from '../agent/output.ts';
import type { RunningDeployment } from '../deployments/active.ts';
import { GatewayError } from '../errors/errors.ts';
import type { ModelEvent, ModelMessage, Usage } from '../model/model.ts';
import type { Models } from '../model/models.ts';
import type { JsonObject } from '../text/json.ts';
import { isModelAway } from './converse.ts';

/** A question to the model that judges. */
export type Question = {
  /** The JSON Schema of the answer. */
  schema: JsonObject;
  instructions: string;
  /** The texts that it is about. */
  data: JsonObject;
};

/** The answer, which fits the schema, or why there is none. */
export type Judgement = ({ answer: JsonObject } | { skipped: string }) & { usage: Usage };

/** A deployment with the model that judges its replies. */
export type EvaluatedDeployment = RunningDeployment & {
  /** Null: `PARLEY_JUDGE_MODEL` or the definition decides. */
  judgeModel: string | null;
};

/** Asks a model about texts. */
export type Judge = (
  deployment: EvaluatedDeployment,
  question: Question,
  signal: AbortSignal,
) => Promise<Judgement>;

export const NO_USAGE: Usage = { promptTokens: 0, completionTokens: 0 };
const ATTEMPTS = 2;
const OFFLINE = 'No model server is configured: the offline model judges nothing.';
const NONSENSE = 'The model that judges gave no valid answer, twice.';

/**
 * Judges with one model of the operator's server, or with the model of the definition. The judge model of an evaluation
 * replaces the name of that model, and not its server. An answer that does not fit twice, a refused request, and the offline
 * model skip the question.
 *
 * @param judgeModel `PARLEY_JUDGE_MODEL`.
 * @throws GatewayError if the model cannot be reached.
 */
export function createJudge({
  models,
  judgeModel,
}: {
  models: Models;
  judgeModel?: string | undefined;
}): Judge {
  return async (deployment, { schema, instructions, data }, signal) => {
    const { accountId, definition } = deployment;
    const model = judgeModel ? models.at({}, accountId) : openModel(models, deployment);
    if (!model.server) return { skipped: OFFLINE, usage: NO_USAGE };
    const { name, timeout } = definition.model;
    const messages: ModelMessage[] = [
      { role: 'system', content: instructions },
      { role: 'user', content: delimited(data) },
    ];
    const usage = { ...NO_USAGE };
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      let text = '';
      const request = {
        model: deployment.judgeModel ?? judgeModel ?? model.nameFor(name),
        messages,
        tools: [],
        timeout,
        outputSchema: schema,
        accountId,
      };
      const onEvent = (event: ModelEvent) => {
        if (event.type === 'text-delta') text += event.text;
        if (event.type !== 'finish') return;
        usage.promptTokens += event.usage?.promptTokens ?? 0;
        usage.completionTokens += event.usage?.completionTokens ?? 0;
      };
      try {
        await model.stream(request, onEvent, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof GatewayError) || isModelAway(error)) throw error;
        return { skipped: `The model that judges failed: ${error.message}`, usage };
      }
      signal.throwIfAborted();
      const read = readOutput(schema, text);
      if (!('problem' in read)) return { answer: read.output, usage };
    }
    return { skipped: NONSENSE, usage };
  };
}

/** Writes data between tags. It escapes `<`, so that no text can close the tag. */
function delimited(data: JsonObject): string {
  return `<data>\n${JSON.stringify(data).replaceAll('<', '\\u003c')}\n</data>`;
}
