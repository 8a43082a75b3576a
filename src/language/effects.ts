import type { Approval, Capability, McpGroup } from './definition.ts';

/** Whether a call of a capability may change something: its method is not `GET`, and it is not marked with `reads`. */
export function changesSomething({
  reads,
  request: { method },
}: Pick<Capability, 'reads'> & { request: Pick<Capability['request'], 'method'> }): boolean {
  return method !== 'GET' && !reads;
}

/**
 * Whether a call of a server's tool may change something.
 *
 * @param readOnlyHint the annotation of the tool, if the server sends one.
 */
export function toolChangesSomething(
  { reads }: Pick<McpGroup, 'reads'>,
  tool: string,
  readOnlyHint?: boolean,
): boolean {
  return readOnlyHint !== true && !reads.includes(tool);
}

/**
 * The approval that a call of a server's tool needs: the approval with the tool's name, or else the approval of all tools,
 * which also covers tools that the server adds later.
 *
 * @param tool the server's name of the tool, without the group.
 */
export function approvalOf(
  { approvals }: Pick<McpGroup, 'approvals'>,
  tool: string,
): Approval | null {
  const named = approvals.find(({ tools }) => tools !== 'all' && tools.includes(tool));
  const found = named ?? approvals.find(({ tools }) => tools === 'all');
  return found ? { reason: found.reason, expiresSeconds: found.expiresSeconds } : null;
}
