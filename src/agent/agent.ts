import type { RunningDeployment } from '../deployments/active.ts';
import { approversOf } from '../language/chat-ids.ts';
import type { Model } from '../model/model.ts';
import type { Models } from '../model/models.ts';
import type { Log } from '../observability/log.ts';
import type { Observer } from '../observability/observer.ts';
import { type PromptRecord, recordedDraft, recordedFacts } from '../runs/record/prompt-record.ts';
import { OWN_ATTRIBUTE } from '../runs/record/semconv.ts';
import type { Ledger } from '../runs/tool-calls/ledger.ts';
import { missingValues, type Trace } from '../runs/trace/trace.ts';
import type { History, HistoryMessage, Recollection, SessionState } from '../sessions/history.ts';
import type { Memory } from '../sessions/memory.ts';
import type { JsonObject } from '../text/json.ts';
import { createLoop, type Loop } from './loop.ts';
import { modelOf, openModel } from './open-model.ts';
import { assemblePrompt, type PromptValues } from './prompt.ts';
import { createToolbox } from './toolbox.ts';
import type { ToolGroups } from './tools/groups.ts';
import { schemaOfFields } from './tools/input.ts';
import { createMemoryTools } from './tools/memory.ts';
import type { Tool } from './tools/tool.ts';

/** One message to an agent, with the data that the agent needs to answer it. */
export type AgentTask = {
  deployment: RunningDeployment;
  /** The conversation. Without it, the message is a single prompt without history and memory. */
  session?: SessionState;
  /** History and memory, if the caller has already loaded them. */
  recollection?: Recollection | undefined;
  sessionId?: string;
  message: string;
  /** Whether the message is a notice of the server, not of a user. */
  isNotice?: boolean | undefined;
  /** Messages that the request sent before its own. They follow the session's history. */
  history?: HistoryMessage[] | undefined;
  context: JsonObject | undefined;
  /** The JSON Schema of a structured reply, in place of the definition's output. */
  outputSchema?: JsonObject | undefined;
  /** The time that templates get, ISO 8601. Defaults to the current time. */
  now?: string | undefined;
  /** Whether the model is offered no tools. */
  withoutTools?: boolean | undefined;
  trace: Pick<Trace, 'begin' | 'step'>;
  /** Records the tool calls. */
  ledger: Omit<Ledger, 'unstored'>;
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
  replaceTools = (tools) => tools,
}: {
  history: Pick<History, 'recall'>;
  memory: Memory;
  models: Models;
  toolGroups: Pick<ToolGroups, 'find'>;
  observer: Observer;
  log: Log;
  /** Replaces the tools of a run, also the tools of memory. */
  replaceTools?: (tools: Tool[]) => Tool[];
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

  const toolsOf = async (
    { deployment, session, trace }: AgentTask,
    values: PromptValues,
    signal: AbortSignal,
  ) => {
    const tools = await toolGroups.find(deployment, trace, { signal, values });
    if (!session) return tools;
    const { definition, redactor } = deployment;
    const parts = { memory, sessionKey: session.key, redactor };
    return [...tools, ...createMemoryTools(definition.memory, parts)];
  };

  return {
    modelOf: (deployment) => modelOf(models, deployment),

    async begin(task, signal) {
      const { deployment, session, sessionId, message, context = {}, trace } = task;
      const { history: own = [], withoutTools = false } = task;
      const { definition, redactor } = deployment;
      const { messages: past, facts } = session ? await recall(task, session) : NOTHING_KEPT;
      const now = task.now ?? new Date().toISOString();
      const values: PromptValues = {
        context,
        memory: facts,
        session: sessionId === undefined ? {} : { id: sessionId },
        now,
      };
      const tools = withoutTools ? [] : await toolsOf(task, values, signal);
      const toolbox = createToolbox(replaceTools(tools), {
        deploymentId: deployment.deploymentId,
        approvers: approversOf(definition, deployment.variables),
        ledger: task.ledger,
        redactor,
        observer,
        log,
      });
      const outputSchema =
        task.outputSchema ?? (definition.output && schemaOfFields(definition.output));
      const history = [...past, ...own];
      const { messages, rendered, historyLength } = await trace.step('merge_context', (span) => {
        const parts = { definition, values, history, message, toolbox, outputSchema };
        const prompt = assemblePrompt(parts);
        span.set({
          [OWN_ATTRIBUTE.contextKeys]: Object.keys(context).length,
          ...((own.length > 0 || prompt.historyLength < past.length) && {
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
          historyLength > own.length && {
            history: {
              session: session.key,
              turn: session.turns,
              messages: historyLength - own.length,
            },
          }),
        ...(historyLength < own.length && { ownHistory: historyLength }),
        ...(task.outputSchema && { outputSchema: task.outputSchema }),
        ...(deployment.isDraft && { draft: recordedDraft(rendered) }),
      };
      return { ...createLoop({ ...parts, values, span, observer, signal }), prompt };
    },
  };
}
