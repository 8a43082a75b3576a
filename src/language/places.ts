import { isAll } from './check/approvals.ts';
import { nameOf, namesOf, toolsOf } from './check/values.ts';
import { type Position, rangeAt, type Source } from './source.ts';
import type { Member } from './syntax.ts';
import type { Token } from './token.ts';

/** The position in a source of an MCP group, or of the name of one of its tools. */
export type ToolPlace = { group: string; tool?: string } & Position;

/** Lists the positions of an agent's MCP groups and tools, for diagnostics of their servers. */
export function toolPlaces(agent: Member, source: Source): ToolPlace[] {
  const servers = agent.block?.members.filter(({ form }) => form === 'mcp') ?? [];
  return servers.flatMap((server) => {
    const [group] = namesOf(server);
    if (!group) return [];
    const members = server.block?.members ?? [];
    return [
      { group: group.text, ...rangeAt(source, group) },
      ...firstOfEach(members.flatMap(namedTools)).map((token) => ({
        group: group.text,
        tool: nameOf(token),
        ...rangeAt(source, token),
      })),
    ];
  });
}

/** The first token of each name. */
function firstOfEach(tools: readonly Token[]): Token[] {
  const first = new Map<string, Token>();
  for (const token of tools) if (!first.has(nameOf(token))) first.set(nameOf(token), token);
  return [...first.values()];
}

/** The tools that a setting of a server names. `approval all` names none. */
function namedTools(setting: Member): Token[] {
  return toolsOf(setting).filter((token) => !(setting.word === 'approval' && isAll(token)));
}
