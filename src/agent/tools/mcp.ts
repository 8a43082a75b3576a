import { randomUUID } from 'node:crypto';
import type { RunningDeployment } from '../../deployments/active.ts';
import type { McpGroup } from '../../language/definition.ts';
import { lookupIn } from '../../language/template.ts';
import { toStorable } from '../../text.ts';
import type { McpTarget } from '../mcp/connection.ts';
import { McpFailure } from '../mcp/failure.ts';
import { inputCheckOf } from '../mcp/input.ts';
import type { ListedTool } from '../mcp/listing.ts';
import { textOf } from '../mcp/result.ts';
import type { McpServers } from '../mcp/servers.ts';
import { limitAnswer, limitError } from './answer.ts';
import { checkInput } from './check.ts';
import { headersOf, renderHeaders } from './headers.ts';
import { type Tool, type ToolContext, ToolError } from './tool.ts';

/** Whose tools they are, and what their headers place. */
export type McpToolDependencies = {
  servers: Pick<McpServers, 'list' | 'call'>;
  deployment: Pick<RunningDeployment, 'deploymentId' | 'variables' | 'redactor'>;
  context: ToolContext;
};

/** Tools, and what is to be said of those that are not there. */
export type FoundTools = {
  tools: Tool[];
  /** For the log, without secrets. */
  notes: string[];
  /** What should be there and is not: `<group>.*` where the server is away, else `<group>.<tool>`. */
  missing: string[];
  /** Dotted paths of what the headers were to place, and there was neither a value nor a default. */
  unset: string[];
};

/** Of one group. */
const MAX_TOOLS = 128;

/**
 * The tools of a group's server: those that `only` names, in its order, else all in the server's, 128 at most. A
 * server that cannot be reached has none, and a note says why: a run goes on without it.
 *
 * Calls throw ToolError for input that is not valid, where there is no answer, and for a result that is an error;
 * or the reason of the signal, once it is aborted.
 */
export async function createMcpTools(
  group: McpGroup,
  dependencies: McpToolDependencies,
): Promise<FoundTools> {
  const { servers, deployment, context } = dependencies;
  const { name } = group;
  const lookup = lookupIn({ ...context.values, env: deployment.variables });
  let unset: string[] = [];
  try {
    unset = renderHeaders(group.headers, lookup).flatMap(({ missing }) => missing);
    const target = targetOf(group, deployment, context.values);
    const listed = await servers.list(target, context.signal);
    const tools = narrow(listed, group.only);
    const missing = missingOf(listed, group.only);
    return {
      tools: tools.map((tool) => createMcpTool(name, tool, target, servers)),
      notes: missing.map((tool) => `${name} has no tool "${tool}".`),
      missing: missing.map((tool) => `${name}.${tool}`),
      unset,
    };
  } catch (error) {
    if (context.signal.aborted) return { tools: [], notes: [], missing: [], unset };
    if (!(error instanceof ToolError || error instanceof McpFailure)) throw error;
    const reason = limitError(deployment.redactor.redact(toStorable(error.message)));
    const note = `The tools of ${name} are left out. ${reason}`;
    return { tools: [], notes: [note], missing: [`${name}.*`], unset };
  }
}

/**
 * Where a group's server is, and as whom it is called. Those whose headers are alike share a connection; where the
 * headers may tell one user from another, only calls of the same session do.
 *
 * @throws ToolError where a variable or a header cannot be used.
 */
export function targetOf(
  { name, url: address, headers: templates }: McpGroup,
  { deploymentId, variables, redactor }: McpToolDependencies['deployment'],
  values: ToolContext['values'],
): McpTarget {
  const url = typeof address === 'string' ? address : variables[address.env];
  if (url === undefined)
    throw new ToolError('The variable of its address is not set.', { type: 'invalid_url' });
  const lookup = lookupIn({ ...values, env: variables });
  const headers = headersOf(renderHeaders(templates, lookup));
  const user = isPersonal({ headers: templates }) && (lookup(['session', 'id']) ?? randomUUID());
  return { key: JSON.stringify([deploymentId, name, url, headers, user]), url, headers, redactor };
}

/** Whether a group's headers place anything of a run, not only variables. */
export function isPersonal({ headers }: Pick<McpGroup, 'headers'>): boolean {
  return headers.some(({ value }) =>
    value.some((part) => typeof part !== 'string' && part.path[0] !== 'env'),
  );
}

function narrow(listed: ListedTool[], only: string[] | undefined): ListedTool[] {
  const tools = only?.flatMap((name) => listed.find((tool) => tool.name === name) ?? []) ?? listed;
  return tools.slice(0, MAX_TOOLS);
}

/** What `only` names and the server does not have. */
function missingOf(listed: Pick<ListedTool, 'name'>[], only: string[] | undefined): string[] {
  return (only ?? []).filter((name) => !listed.some((tool) => tool.name === name));
}

function createMcpTool(
  group: string,
  { name, description, inputSchema, isRepeatable }: ListedTool,
  target: McpTarget,
  servers: Pick<McpServers, 'call'>,
): Tool {
  const { redactor } = target;
  return {
    name: `${group}.${name}`,
    description,
    inputSchema,
    async call(given, { signal }) {
      try {
        const input = checkInput(inputCheckOf(inputSchema), given);
        const result = await servers.call(target, { name, input, isRepeatable }, signal);
        const text = redactor.redact(toStorable(textOf(result)));
        if (result.isError) throw new ToolError(limitError(text) || 'The tool failed.');
        return limitAnswer(text);
      } catch (error) {
        if (error instanceof ToolError || error instanceof McpFailure) {
          const message = limitError(redactor.redact(toStorable(error.message)));
          throw new ToolError(message, { cause: error, type: error.type });
        }
        throw error;
      }
    },
  };
}
