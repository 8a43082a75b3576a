import type { RunningDeployment } from '../../deployments/active.ts';
import type { Egress } from '../../egress/egress.ts';
import type { BuiltInName, ToolGroup } from '../../language/definition.ts';
import { partsOfToolName } from '../../language/tool-names.ts';
import type { Log } from '../../observability/log.ts';
import { OWN_ATTRIBUTE } from '../../runs/record/semconv.ts';
import { MAX_LISTED, missingValues, type Trace } from '../../runs/trace/trace.ts';
import type { McpServers } from '../mcp/servers.ts';
import { createHttpTools } from './http.ts';
import { createMcpTools, type FoundTools } from './mcp.ts';
import { createTimeTools } from './time.ts';
import { type Tool, type ToolContext, ToolError } from './tool.ts';

/** Resolves the tool groups of a definition. */
export type ToolGroups = {
  /**
   * Returns the tools of all groups, in the order of the groups. Listing the tools of MCP servers is a span of the trace.
   * Unavailable tools are recorded in the span and in the log; the run continues without them.
   */
  find(
    deployment: RunningDeployment,
    trace: Pick<Trace, 'step'>,
    context: ToolContext,
  ): Promise<Tool[]>;
  /**
   * Finds one tool by its name `<group>.<capability>`.
   *
   * @returns undefined if it does not exist.
   * @throws ToolError if its server cannot be called.
   */
  findOne(
    deployment: RunningDeployment,
    name: string,
    context: ToolContext,
  ): Promise<Tool | undefined>;
};

export function createToolGroups({
  egress,
  servers,
  log,
}: {
  egress: Pick<Egress, 'of'>;
  servers: Pick<McpServers, 'list' | 'call'>;
  log: Log;
}): ToolGroups {
  const builtIn: Record<BuiltInName, () => Tool[]> = {
    time: () => createTimeTools(() => new Date()),
  };

  const allOf = (tools: Tool[]): FoundTools => ({ tools, notes: [], missing: [], unset: [] });

  const toolsOf = async (
    group: ToolGroup,
    deployment: RunningDeployment,
    context: ToolContext,
  ): Promise<FoundTools> => {
    switch (group.type) {
      case 'http':
        return allOf(
          createHttpTools(group, { ...deployment, egress: egress.of(deployment.accountId) }),
        );
      case 'builtin':
        return allOf(builtIn[group.name]());
      case 'mcp':
        return createMcpTools(group, { servers, deployment, context });
    }
  };

  return {
    async find(deployment, trace, context) {
      const { deploymentId, definition } = deployment;
      const findAll = () =>
        Promise.all(definition.tools.map((group) => toolsOf(group, deployment, context)));
      const isServed = definition.tools.some(({ type }) => type === 'mcp');
      if (!isServed) return (await findAll()).flatMap(({ tools }) => tools);
      return trace.step('connect_tools', async (span) => {
        const found = await findAll();
        const missing = found.flatMap((group) => group.missing);
        if (missing.length > 0)
          span.set({ [OWN_ATTRIBUTE.toolsMissing]: missing.slice(0, MAX_LISTED) });
        const leftOut = found.reduce((sum, group) => sum + (group.leftOut ?? 0), 0);
        if (leftOut > 0) span.set({ [OWN_ATTRIBUTE.toolsLeftOut]: leftOut });
        span.set(missingValues([...new Set(found.flatMap(({ unset }) => unset))]));
        const notes = found.flatMap((group) => group.notes).slice(0, MAX_LISTED);
        for (const note of notes) log.warn({ deploymentId }, note);
        return found.flatMap(({ tools }) => tools);
      });
    },

    async findOne(deployment, name, context) {
      const { group: groupName } = partsOfToolName(name);
      const group = deployment.definition.tools.find((one) => one.name === groupName);
      if (!group) return undefined;
      const { tools, problem } = await toolsOf(group, deployment, context);
      if (problem !== undefined) throw new ToolError(problem, { type: 'tools_unavailable' });
      return tools.find((tool) => tool.name === name);
    },
  };
}
