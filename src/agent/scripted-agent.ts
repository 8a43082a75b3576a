import type { BuiltInName, ToolGroup } from '../language/definition.ts';
import { partsOfToolName } from '../language/tool-names.ts';
import type { Models } from '../model/models.ts';
import type { Log } from '../observability/log.ts';
import { UNOBSERVED } from '../observability/observer.ts';
import type { History } from '../sessions/history.ts';
import type { Memory } from '../sessions/memory.ts';
import type { JsonObject } from '../text/json.ts';
import { type Agent, createAgent } from './agent.ts';
import { createHttpTools } from './tools/http.ts';
import { checkAgainst } from './tools/schema-check.ts';
import { createTimeTools } from './tools/time.ts';
import { OWN_TOOL, type Tool, ToolError } from './tools/tool.ts';

/** The answers of the tools of one conversation. */
export type Script = {
  /** The facts of the conversation. */
  memory: Memory;
  /** The full names of tools that a server may have, besides those in its `only`. */
  tools: readonly string[];
  /** Whether the script answers calls of a built-in tool. Other built-in tools work as usual: they reach nothing. */
  answers(tool: string): boolean;
  /**
   * The answer of a call.
   *
   * @param given the arguments as the model sent them, before their check.
   * @returns undefined if the script has none: the model then reads that.
   */
  answer(
    tool: string,
    input: JsonObject,
    given: unknown,
  ): { text: string; isError: boolean } | undefined;
  /** The time that tools tell. Absent: the current time. */
  now?: Date;
};

/** What the model reads in place of a result. */
const NO_ANSWER = 'This call was not recorded.';
/** Built-in groups and memory, which reach no other server. */
const OWN_GROUPS: ReadonlySet<string> = new Set(['memory', 'time'] satisfies (
  | 'memory'
  | BuiltInName
)[]);

/**
 * Creates an agent whose tools send nothing: a script answers their calls. It reads and stores no session, no run and no
 * memory, and no call waits for approval.
 */
export function createScriptedAgent(
  script: Script,
  { history, models, log }: { history: History; models: Models; log: Log },
): Agent {
  const replaced = (tool: Tool): Tool =>
    OWN_GROUPS.has(partsOfToolName(tool.name).group) && !script.answers(tool.name)
      ? tool
      : {
          ...tool,
          ...OWN_TOOL,
          prepare(given) {
            const input = checkAgainst(tool.inputSchema, given);
            return { send: async () => answerOf(script, tool.name, input, given) };
          },
        };
  return createAgent({
    history,
    memory: script.memory,
    models,
    toolGroups: {
      find: async ({ definition, variables, redactor }) =>
        definition.tools.flatMap((group) => toolsOf(group, script, { variables, redactor })),
    },
    observer: UNOBSERVED,
    log,
    replaceTools: (tools) => tools.map(replaced),
  });
}

function answerOf(
  script: Script,
  tool: string,
  input: JsonObject,
  given: unknown,
): { text: string } {
  const answer = script.answer(tool, input, given);
  if (!answer) throw new ToolError(NO_ANSWER, { type: 'not_recorded' });
  if (answer.isError) throw new ToolError(answer.text);
  return { text: answer.text };
}

type Values = Omit<Parameters<typeof createHttpTools>[1], 'egress'>;

/** The tools of a group without their requests. The server of a group is not asked for its tools. */
function toolsOf(group: ToolGroup, script: Script, values: Values): Tool[] {
  switch (group.type) {
    case 'http':
      return createHttpTools(group, { ...values, egress: { request: refuse } });
    case 'builtin':
      return createTimeTools(() => script.now ?? new Date());
    case 'mcp': {
      const start = `${group.name}.`;
      const scripted = script.tools
        .filter((name) => name.startsWith(start))
        .map((name) => name.slice(start.length));
      const names = group.only ?? [...new Set(scripted)];
      return names.map((name) => serverTool(group.name, name));
    }
  }
}

const refuse = () => Promise.reject(new Error('A scripted tool sends no request.'));

function serverTool(group: string, name: string): Tool {
  return {
    ...OWN_TOOL,
    name: `${group}.${name}`,
    description: `The tool ${name} of the server ${group}.`,
    inputSchema: { type: 'object' },
    prepare: () => ({ send: refuse }),
  };
}
