import { BUILT_IN_GROUPS, type Definition, MEMORY_GROUP, type ToolGroup } from '../definition.ts';
import { hint } from '../suggest.ts';
import type { Block, Member } from '../syntax.ts';
import { quote, type Token } from '../token.ts';
import { declaredIn } from './names.ts';
import { type Check, nameOf, namesOf, toolsOf } from './values.ts';

/** The tools that a test may name. */
export type KnownTools = ReturnType<typeof createKnownTools>;

/** The tokens of a tool that a member of a test names. */
export function callOf(member: Member): { group: Token; tool: Token } | undefined {
  const [group] = namesOf(member);
  const [tool] = toolsOf(member);
  return group && tool && { group, tool };
}

/** Collects the tools of an agent. A tool that a reported mistake may hide is accepted. */
export function createKnownTools(
  block: Block,
  { tools: groups, memory }: Definition,
  check: Check,
) {
  const { report, mayHide } = check;
  const names = new Set(groups.flatMap(namesIn));
  for (const tool of memory.length > 0 ? ['save', 'forget'] : [])
    names.add(`${MEMORY_GROUP}.${tool}`);
  /** Servers whose tools the source does not name. */
  const open = new Set(groups.flatMap((group) => (isOpen(group) ? [group.name] : [])));
  const members = Map.groupBy(
    block.members.filter(({ word }) => word === 'tools'),
    (member) => namesOf(member)[0]?.text,
  );
  const known = new Set(groups.map(({ name }) => name));
  const losesGroups =
    mayHide('tools') ||
    block.unnamed.length > 0 ||
    members.keys().some((name) => name === undefined || !known.has(name));
  const losesTools = ['capability', 'only'].some(mayHide);

  /** Whether a mistake may hide a tool of a group. */
  function mayLack(group: string): boolean {
    if (group === MEMORY_GROUP) return declaredIn(block, 'memory', check) === 'unknown';
    const found = members.get(group);
    return found ? losesTools || found.some(isDamaged) : losesGroups;
  }

  return {
    /** Reports a tool that the agent does not have. @returns its full name, or undefined after a mistake in its syntax. */
    check(member: Member): string | undefined {
      const call = callOf(member);
      if (!call) return undefined;
      const group = call.group.text;
      const name = `${group}.${nameOf(call.tool)}`;
      if (names.has(name) || open.has(group) || mayLack(group)) return name;
      report('unknown-tool', { start: call.group.start, end: call.tool.end }, () => {
        return `unknown tool ${quote(name)}${hint(name, names)}`;
      });
      return name;
    },
  };
}

/** Whether a mistake may hide tools of a group. */
function isDamaged({ damaged, block, form }: Member): boolean {
  if (damaged || (block?.unnamed.length ?? 0) > 0) return true;
  const named = block?.members.filter(({ word }) => word === (form ? 'only' : 'capability')) ?? [];
  return named.some((member) => member.damaged && (form || namesOf(member).length === 0));
}

function namesIn(group: ToolGroup): string[] {
  return toolNamesIn(group).map((tool) => `${group.name}.${tool}`);
}

function toolNamesIn(group: ToolGroup): readonly string[] {
  switch (group.type) {
    case 'http':
      return group.capabilities.map(({ name }) => name);
    case 'mcp':
      return group.only ?? [];
    case 'builtin':
      return BUILT_IN_GROUPS[group.name];
  }
}

function isOpen(group: ToolGroup): boolean {
  return group.type === 'mcp' && group.only === undefined;
}
