import { nameOf, namesOf, stringsOf } from './check/values.ts';
import { type Position, rangeAt, type Source } from './source.ts';
import type { Member } from './syntax.ts';

/** The position in a source of an MCP group, or of a tool in its `only` list. */
export type ToolPlace = { group: string; tool?: string } & Position;

/** Lists the positions of an agent's MCP groups and tools, for diagnostics of their servers. */
export function toolPlaces(agent: Member, source: Source): ToolPlace[] {
  const servers = agent.block?.members.filter(({ form }) => form === 'mcp') ?? [];
  return servers.flatMap((server) => {
    const [group] = namesOf(server);
    if (!group) return [];
    const only = server.block?.members.find(({ word }) => word === 'only');
    const tools = [...stringsOf(only), ...namesOf(only)];
    return [
      { group: group.text, ...rangeAt(source, group) },
      ...tools.map((token) => ({
        group: group.text,
        tool: nameOf(token),
        ...rangeAt(source, token),
      })),
    ];
  });
}
