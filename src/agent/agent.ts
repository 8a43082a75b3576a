import type { RunningDeployment } from '../deployments/active.ts';
import type { Model } from '../model/model.ts';
import type { Models } from '../model/models.ts';
import type { Log } from '../observability/log.ts';
import type { Observer } from '../observability/observer.ts';
import { type PromptRecord, recordedDraft, recordedFacts } from '../runs/record/prompt-record.ts';
import { OWN_ATTRIBUTE } from '../runs/record/semconv.ts';
import { missingValues, type Trace } from '../runs/trace/trace.ts';
import type { History, Recollection, SessionState } from '../sessions/history.ts';
import type { Memory } from '../sessions/memory.ts';
import type { JsonObject } from '../text/json.ts';
import { createLoop, type Loop } from './loop.ts';
import { modelOf, openModel } from './open-model.ts';
import { assemblePrompt } from './prompt.ts';
import { createToolbox } from './toolbox.ts';
import type { ToolGroups } from './tools/groups.ts';
import { schemaOfFields } from './tools/input.ts';
import { createMemoryTools } from './tools/memory.ts';

/** One message to an agent, with the data that the agent needs to answer it. */
export type AgentTask = {
  deployment: RunningDeployment;
  /** The conversation. Without it, the message is a single prompt without history and memory. */
  session?: SessionState;
  /** History and memory, if the caller has already loaded them. */
  recollection?: Recollection | undefined;
  sessionId?: string;
  message: string;
  context: JsonObject | undefined;
  /** The JSON Schema of a structured reply, in place of the definition's output. */
  outputSchema?: JsonObject | undefined;
  trace: Pick<Trace, 'begin' | 'step'>;
};

/** Prepares runs of deployed definitions. */
export type Agent = {
  /**
   * Loads the session's history, injects its memory, merges the caller's `context` and sends the result to the model.
   * Each step is a span of the trace; the caller ends the last span with the run. Source: the API document, "What the
   * service does".
   */
  begin(task: AgentTask, signal: AbortSignal): Promise<Loop & { prompt: PromptRecord }>;
  /** The model that a deployment uses, as traces name it. */
  modelOf(deployment: RunningDeployment): { name: string; provider: Model['provider'] };
};

const NOTHING_KEPT: Recollection = { messages: [], facts: {} };

export function createAgent({
  history,
  memory,
  models,
  toolGroups,
  observer,
  log,
}: {
  history: History;
  memory: Memory;
  models: Models;
  toolGroups: ToolGroups;
  observer: Observer;
  log: Log;
}): Agent {
  /** The first two of the four steps. One query reads both. */
  const recall = async (
    { deployment, recollection: known, trace }: AgentTask,
    session: SessionState,
  ) => {
    const { messages, facts } = await trace.step('load_history', async (span) => {
      const recollection = known ?? (await history.recall(session, deployment.definition.history));
      span.set({ [OWN_ATTRIBUTE.historyMessages]: recollection.messages.length });
      return recollection;
    });
    await trace.step('inject_memory', (span) => {
      span.set({ [OWN_ATTRIBUTE.memoryFacts]: Object.keys(facts).length });
    });
    return { messages, facts };
  };

  return {
    modelOf: (deployment) => modelOf(models, deployment),

    async begin(task, signal) {
      const { deployment, session, sessionId, message, context = {}, trace } = task;
      const { definition, redactor } = deployment;
      const { messages: past, facts } = session ? await recall(task, session) : NOTHING_KEPT;
      const now = new Date().toISOString();
      const values = {
        context,
        memory: facts,
        session: sessionId === undefined ? {} : { id: sessionId },
        now,
      };
      const memoryTools =
        session &&
        createMemoryTools(definition.memory, { memory, sessionKey: session.key, redactor });
      const tools = await toolGroups.find(deployment, trace, { signal, values });
      const toolbox = createToolbox([...tools, ...(memoryTools ?? [])], {
        redactor,
        observer,
        log,
      });
      const outputSchema =
        task.outputSchema ?? (definition.output && schemaOfFields(definition.output));
      const { messages, rendered, historyLength } = await trace.step('merge_context', (span) => {
        const parts = { definition, values, history: past, message, toolbox, outputSchema };
        const prompt = assemblePrompt(parts);
        span.set({
          [OWN_ATTRIBUTE.contextKeys]: Object.keys(context).length,
          ...(prompt.historyLength < past.length && {
            [OWN_ATTRIBUTE.historyMessages]: prompt.historyLength,
          }),
          ...missingValues(prompt.missing),
        });
        return prompt;
      });
      const span = trace.begin('send_to_model');
      const model = openModel(models, deployment);
      const parts = { model, definition, messages, toolbox, outputSchema, redactor, sessionId };
      const prompt: PromptRecord = {
        now,
        ...recordedFacts(facts),
        ...(session &&
          historyLength > 0 && {
            history: { session: session.key, turn: session.turns, messages: historyLength },
          }),
        ...(task.outputSchema && { outputSchema: task.outputSchema }),
        ...(deployment.isDraft && { draft: recordedDraft(rendered) }),
      };
      return { ...createLoop({ ...parts, values, span, observer, signal }), prompt };
    },
  };
}
