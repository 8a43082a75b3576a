import type { RunningDeployment } from '../deployments/active.ts';
import { GatewayError } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import type { BuiltInName, EnvReference, ToolGroup } from '../language/definition.ts';
import type { Log } from '../log.ts';
import type { Models } from '../model/models.ts';
import type { History, SessionState } from '../sessions/history.ts';
import type { Memory } from '../sessions/memory.ts';
import type { Egress } from './egress.ts';
import { type Loop, startLoop } from './loop.ts';
import { assemblePrompt } from './prompt.ts';
import { createToolbox } from './toolbox.ts';
import { createHttpTools } from './tools/http.ts';
import { createMemoryTools } from './tools/memory.ts';
import { createTimeTools } from './tools/time.ts';
import type { Tool } from './tools/tool.ts';

/** One message to an agent, and all that it is to know. */
export type AgentTask = {
  deployment: RunningDeployment;
  session: SessionState;
  sessionId: string;
  message: string;
  context: JsonObject | undefined;
};

/** Makes a deployed definition do what it says. */
export type Agent = {
  /**
   * Loads the session's history, injects its memory, merges the caller's `context`, and sends everything to the
   * model, in this order. Source: the API document, "What the service does".
   */
  begin(task: AgentTask, signal: AbortSignal): Promise<Loop>;
  /** The name of the model that answers for a deployment. */
  modelName(deployment: RunningDeployment): string;
};

export function createAgent({
  history,
  memory,
  models,
  egress,
  log,
}: {
  history: History;
  memory: Memory;
  models: Models;
  egress: Egress;
  log: Log;
}): Agent {
  const builtIn: Record<BuiltInName, () => Tool[]> = {
    time: () => createTimeTools(() => new Date()),
  };

  const toolsOf = (group: ToolGroup, { variables, redactor }: RunningDeployment): Tool[] => {
    switch (group.type) {
      case 'http':
        return createHttpTools(group, { egress, variables, redactor });
      case 'builtin':
        return builtIn[group.name]();
      case 'mcp':
        // No server of the Model Context Protocol is connected yet: deploying warns of it.
        return [];
    }
  };

  const modelOf = ({ definition, variables }: RunningDeployment) => {
    const { baseUrl, apiKey } = definition.model;
    const resolved = (setting: string | EnvReference | undefined) => {
      if (setting === undefined || typeof setting === 'string') return setting;
      const value = variables[setting.env];
      if (value !== undefined) return value;
      throw new GatewayError('model_error', `The variable ${setting.env} of the model is not set.`);
    };
    return models.at({ baseUrl: resolved(baseUrl), apiKey: resolved(apiKey) });
  };

  return {
    modelName: ({ definition: { model } }) => {
      const isOwn = model.baseUrl !== undefined || model.apiKey !== undefined;
      return (isOwn && model.name) || models.at({}).nameFor(model.name);
    },

    async begin({ deployment, session, sessionId, message, context = {} }, signal) {
      const { definition, redactor } = deployment;
      const messages = await history.load(session, definition.history);
      const facts = await memory.load(session.key);
      const toolbox = createToolbox(
        [
          ...definition.tools.flatMap((group) => toolsOf(group, deployment)),
          ...createMemoryTools(definition.memory, memory, session.key),
        ],
        log,
      );
      const now = new Date().toISOString();
      const values = { context, memory: facts, session: { id: sessionId }, now };
      const prompt = assemblePrompt({ definition, values, history: messages, message, toolbox });
      const model = modelOf(deployment);
      return startLoop({ model, definition, messages: prompt, toolbox, redactor, values, signal });
    },
  };
}
