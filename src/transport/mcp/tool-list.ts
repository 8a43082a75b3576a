import type { ListToolsResult, Tool } from '@modelcontextprotocol/server';
import { ListTools, type ListToolsQuery } from '../../generated/operations/rest.ts';
import type { JsonObject } from '../../text/json.ts';
import type { Exchange } from './exchange.ts';

const PAGE_SIZE = 100;

const INPUT_SCHEMA: Tool['inputSchema'] = {
  type: 'object',
  properties: {
    message: { type: 'string', description: 'Message to the agent.' },
    session_id: {
      type: 'string',
      description:
        'Session ID of the conversation to continue, from an earlier result. Defaults to a new conversation.',
    },
    context: {
      type: 'object',
      description: 'Facts that the agent should know, such as the plan of a customer.',
    },
  },
  required: ['message'],
  additionalProperties: false,
};

/** Lists the deployed bots of the connection as tools. A page has at most 100, and fewer if some bots are not deployed. */
export async function listTools(
  { engine, context, bots }: Exchange,
  cursor: string | undefined,
): Promise<ListToolsResult> {
  const variables = { botIds: bots, first: PAGE_SIZE, after: cursor };
  const { edges, pageInfo } = (await engine.execute(ListTools, variables, context)).bots;
  return {
    tools: edges.flatMap(({ node }) => toTool(node) ?? []),
    ...(pageInfo.hasNextPage && pageInfo.endCursor && { nextCursor: pageInfo.endCursor }),
  };
}

type Bot = ListToolsQuery['bots']['edges'][number]['node'];

function toTool({ id, name, tool }: Bot): Tool | undefined {
  if (!tool) return undefined;
  return {
    name: id,
    title: name,
    description:
      tool.description ?? `Sends a message to the agent "${name}" and returns its reply.`,
    inputSchema: INPUT_SCHEMA,
    outputSchema: outputSchemaOf(tool.outputSchema),
    annotations: { readOnlyHint: tool.readOnly, openWorldHint: true },
  };
}

function outputSchemaOf(output: JsonObject | null): NonNullable<Tool['outputSchema']> {
  return {
    type: 'object',
    properties: {
      response: { type: 'string', description: 'Text of the reply.' },
      session_id: { type: 'string', description: 'Session ID of the conversation.' },
      run_id: { type: 'string', description: 'ID of the run that produced the reply.' },
      ...(output && { output }),
    },
    required: ['response', 'session_id', 'run_id'],
  };
}
