import type { ProbeTools, ToolServerReport } from '../../deployments/diagnostics.ts';
import type { EnvironmentVariables } from '../../deployments/environment.ts';
import type { McpGroup } from '../../language/definition.ts';
import { createRedactor, type Redactor } from '../../redaction/redact.ts';
import { McpFailure, type McpFailureCode } from '../mcp/failure.ts';
import type { McpServers } from '../mcp/servers.ts';
import { isPersonal, targetOf } from './mcp.ts';
import { ToolError } from './tool.ts';

/** Milliseconds for all servers together: they are probed concurrently. */
const PROBE_MS = 5_000;
/** Groups probed of one definition. */
const MAX_GROUPS = 32;

/** Failures that may be caused by the missing user identity. */
const OF_THE_USER: McpFailureCode[] = ['refused', 'session-gone', 'protocol'];

/**
 * Checks whether the tool servers of a definition are reachable and lists their tools. It probes the first 32 groups.
 */
export function createToolProbe({ servers }: { servers: Pick<McpServers, 'probe'> }): ProbeTools {
  const probeOne = async (
    group: McpGroup,
    variables: EnvironmentVariables,
    redactor: Redactor,
  ): Promise<ToolServerReport[]> => {
    const { name, url } = group;
    // The language already warns about a variable without a value.
    if (typeof url !== 'string' && variables[url.env] === undefined) return [];
    try {
      const deployment = { deploymentId: '', accountId: '', variables, redactor };
      const target = targetOf({ ...group, only: undefined }, deployment, {});
      const { tools } = await servers.probe(target, PROBE_MS);
      return [{ group: name, tools: tools.map((tool) => tool.name) }];
    } catch (error) {
      if (!(error instanceof ToolError || error instanceof McpFailure)) throw error;
      const isUsers = error instanceof McpFailure && OF_THE_USER.includes(error.code);
      if (isUsers && isPersonal(group)) return [];
      // This is our own limit, not a problem of the server.
      if (error instanceof McpFailure && error.code === 'too-many') return [];
      return [{ group: name, problem: redactor.redact(error.message) }];
    }
  };

  return async (groups, variables) => {
    const redactor = createRedactor(variables);
    const probes = groups.slice(0, MAX_GROUPS).map((group) => probeOne(group, variables, redactor));
    return (await Promise.all(probes)).flat();
  };
}
