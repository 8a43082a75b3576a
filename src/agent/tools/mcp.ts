import { randomUUID } from 'node:crypto';
import type { RunningDeployment } from '../../deployments/active.ts';
import type { McpGroup } from '../../language/definition.ts';
import { approvalOf, toolChangesSomething } from '../../language/effects.ts';
import { lookupIn, pathsIn } from '../../language/template.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { ToolEffect } from '../../runs/tool-calls/tool-call.ts';
import type { JsonObject } from '../../text/json.ts';
import type { McpTarget } from '../mcp/connection.ts';
import { McpFailure } from '../mcp/failure.ts';
import type { ListedTool } from '../mcp/listing.ts';
import { textOf } from '../mcp/result.ts';
import type { McpServers } from '../mcp/servers.ts';
import { shorten } from '../untrusted-text.ts';
import { limitAnswer, limitError } from './answer.ts';
import { headersOf, renderHeaders } from './headers.ts';
import { checkAgainst } from './schema-check.ts';
import { type Tool, type ToolContext, ToolError } from './tool.ts';
import { withoutSecrets } from './without-secrets.ts';

export type McpToolDependencies = {
  servers: Pick<McpServers, 'list' | 'call'>;
  deployment: Pick<RunningDeployment, 'deploymentId' | 'accountId' | 'variables' | 'redactor'>;
  context: ToolContext;
};

/** The available tools of a group, and reports of the unavailable ones. */
export type FoundTools = {
  tools: Tool[];
  /** Log messages, without secrets. */
  notes: string[];
  /** Missing tools: `<group>.*` if the server is unavailable, else `<group>.<tool>`. */
  missing: string[];
  /** Dotted paths of template values in headers that had neither a value nor a default. */
  unset: string[];
  /** How many of the server's tools are omitted because they exceed a limit or are invalid; 0 by default. */
  leftOut?: number;
  /** Why there are no tools, if their server cannot be called: a sentence without secrets. */
  problem?: string;
};

/** Characters of a result before redaction. It is more than the 64 KiB that a model receives. */
const MAX_RESULT = 128 * 1024;
/** Characters of an error message. The server may have written it. */
const MAX_MESSAGE = 8 * 1024;

const TOOL_LIMITS = 'A server has at most 128, each with a schema of at most 16 KiB and 32 levels.';

/**
 * Creates the tools of a group's server, at most 128: the tools in `only`, in that order, or else all tools in the
 * server's order. If the server is unreachable, the result has no tools and a note with the reason; the run continues.
 *
 * `prepare` throws ToolError if the input is invalid; `send` if there is no response, or if the result is an error.
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
    const { tools: listed, leftOut } = await servers.list(target, context.signal);
    const tools = inOrder(listed, group.only);
    const missing = missingOf(listed, group.only);
    const notes = missing.map((tool) => `${name} has no tool "${tool}".`);
    if (leftOut > 0) notes.push(`${leftOut} tools of ${name} are omitted. ${TOOL_LIMITS}`);
    return {
      tools: tools.map((tool) => createMcpTool(group, tool, target, servers)),
      notes,
      missing: missing.map((tool) => `${name}.${tool}`),
      unset,
      ...(leftOut > 0 && { leftOut }),
    };
  } catch (error) {
    if (context.signal.aborted) return { tools: [], notes: [], missing: [], unset };
    if (!(error instanceof ToolError || error instanceof McpFailure)) throw error;
    const reason = limitError(shorten(error.message, MAX_MESSAGE, deployment.redactor));
    const note = `The tools of ${name} are unavailable. ${reason}`;
    return { tools: [], notes: [note], missing: [`${name}.*`], unset, problem: note };
  }
}

/**
 * Returns a group's server and the headers to call it with. Equal targets share a connection. If the headers contain
 * values of the run, only calls of the same session share one, because such headers may identify a user.
 *
 * @throws ToolError if a variable is missing or a header is invalid.
 */
export function targetOf(
  { name, url: address, headers: templates, only }: McpGroup,
  { deploymentId, accountId, variables, redactor }: McpToolDependencies['deployment'],
  values: ToolContext['values'],
): McpTarget {
  const url = typeof address === 'string' ? address : variables[address.env];
  if (url === undefined)
    throw new ToolError("The variable for the server's URL is not set.", { type: 'invalid_url' });
  const lookup = lookupIn({ ...values, env: variables });
  const headers = headersOf(renderHeaders(templates, lookup));
  const user = isPersonal({ headers: templates }) && (lookup(['session', 'id']) ?? randomUUID());
  const key = JSON.stringify([deploymentId, name, url, headers, user, only]);
  return { key, accountId, url, headers, redactor, only };
}

/** Whether a group's headers use values of the run, not only variables. */
export function isPersonal({ headers }: Pick<McpGroup, 'headers'>): boolean {
  return headers.some(({ value }) =>
    value.some((part) => typeof part !== 'string' && part.path[0] !== 'env'),
  );
}

function inOrder(listed: ListedTool[], only: string[] | undefined): ListedTool[] {
  return only?.flatMap((name) => listed.find((tool) => tool.name === name) ?? []) ?? listed;
}

/** The names in `only` that the server does not offer. */
function missingOf(listed: Pick<ListedTool, 'name'>[], only: string[] | undefined): string[] {
  return (only ?? []).filter((name) => !listed.some((tool) => tool.name === name));
}

/** What a call may do: the definition's word counts before the server's. */
function effectOf(group: McpGroup, { name, effect }: ListedTool): ToolEffect {
  if (!toolChangesSomething(group, name, effect === 'reads')) return 'reads';
  return group.repeatable.includes(name) ? 'repeatable' : effect;
}

function createMcpTool(
  group: McpGroup,
  tool: ListedTool,
  target: McpTarget,
  servers: Pick<McpServers, 'call'>,
): Tool {
  const { redactor } = target;
  const { name, description } = tool;
  const inputSchema: JsonObject = JSON.parse(tool.inputSchema);
  const effect = effectOf(group, tool);
  return {
    name: `${group.name}.${name}`,
    description,
    label: group.labels.find(({ tool: labelled }) => labelled === name)?.label,
    inputSchema,
    effect,
    approval: approvalOf(group, name),
    paths: pathsIn(group.headers.map(({ value }) => value)),
    prepare(given, { signal }) {
      const input = withoutSecrets(redactor, () => checkAgainst(inputSchema, given));
      return {
        headers: target.headers,
        async send(idempotencyKey) {
          const isRepeatable = effect !== 'changes';
          const call = { name, input, isRepeatable, idempotencyKey };
          const result = await servers.call(target, call, signal).catch((error) => {
            throw error instanceof McpFailure ? noResult(error, redactor) : error;
          });
          const whole = textOf(result);
          const text = shorten(whole, MAX_RESULT, redactor);
          if (result.isError) throw new ToolError(limitError(text) || 'The tool failed.');
          return { text: limitAnswer(text, whole.length > MAX_RESULT) };
        },
      };
    },
  };
}

function noResult(failure: McpFailure, redactor: Redactor): ToolError {
  const { type, isUnanswered } = failure;
  const message = limitError(shorten(failure.message, MAX_MESSAGE, redactor));
  return new ToolError(message, { cause: failure, type, isUnanswered });
}
