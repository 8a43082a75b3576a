import { nameOf, namesOf, stringsOf } from './check/values.ts';
import { positionAt, type Source } from './source.ts';
import type { Member } from './syntax.ts';

/** Where a source names the group of a server's tools, or one of those that it takes of it. */
export type ToolPlace = { group: string; tool?: string; line: number; column: number };

/** The places of an agent's servers of tools, for what is found out about them later. */
export function toolPlaces(agent: Member, source: Source): ToolPlace[] {
  const servers = agent.block?.members.filter(({ form }) => form === 'mcp') ?? [];
  return servers.flatMap((server) => {
    const [group] = namesOf(server);
    if (!group) return [];
    const only = server.block?.members.find(({ word }) => word === 'only');
    const tools = [...stringsOf(only), ...namesOf(only)];
    return [
      { group: group.text, ...positionAt(source, group.start) },
      ...tools.map((token) => ({
        group: group.text,
        tool: nameOf(token),
        ...positionAt(source, token.start),
      })),
    ];
  });
}
