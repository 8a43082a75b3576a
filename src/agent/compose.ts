import type { Lifetime } from '../async/lifetime.ts';
import type { ProbeTools } from '../deployments/diagnostics.ts';
import { createEgress } from '../egress/egress.ts';
import type { Model } from '../model/model.ts';
import { createModels, type Models } from '../model/models.ts';
import type { Log } from '../observability/log.ts';
import type { Observer } from '../observability/observer.ts';
import type { History } from '../sessions/history.ts';
import type { Memory } from '../sessions/memory.ts';
import { type Agent, createAgent } from './agent.ts';
import { type ApprovedCalls, createApprovedCalls } from './approved-calls.ts';
import { createMcpServers } from './mcp/servers.ts';
import { createScriptedAgent, type Script } from './scripted-agent.ts';
import { createToolGroups } from './tools/groups.ts';
import { createToolProbe } from './tools/probe.ts';

/** The composed domain of the agent. */
export type AgentDomain = {
  models: Models;
  agent: Agent;
  approvedCalls: ApprovedCalls;
  probeTools: ProbeTools;
  /** An agent whose tools send nothing. */
  scriptedAgent(script: Script): Agent;
};

type Parts = {
  history: History;
  memory: Memory;
  /** The operator's model, for definitions that name no model server. */
  model: Model;
  /** `host:port` of private hosts that tools may call. */
  allowedHosts: string[];
  observer: Observer;
  log: Log;
  lifetime: Lifetime;
};

export function createAgentDomain({
  history,
  memory,
  model,
  allowedHosts,
  observer,
  log,
  lifetime,
}: Parts): AgentDomain {
  const egress = createEgress({ allowedHosts });
  lifetime.defer(egress.close);
  const servers = createMcpServers({ egress });
  lifetime.defer(servers.close);
  const toolGroups = createToolGroups({ egress, servers, log });
  const fetchOf = (accountId: string) => egress.of(accountId).fetch;
  const models = createModels({ standard: model, fetchOf, observer });
  return {
    models,
    agent: createAgent({ history, memory, models, toolGroups, observer, log }),
    approvedCalls: createApprovedCalls({ toolGroups, log }),
    probeTools: createToolProbe({ servers }),
    scriptedAgent: (script) => createScriptedAgent(script, { history, models, log }),
  };
}
