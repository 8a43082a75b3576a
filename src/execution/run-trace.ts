import type { Agent } from '../agent/agent.ts';
import type { RunningDeployment } from '../deployments/active.ts';
import type { NewRun } from '../runs/life/begin.ts';
import { readModelName } from '../runs/record/model-name.ts';
import type { Trace, Tracing } from '../runs/trace/trace.ts';

/**
 * Starts the trace of a run.
 *
 * @param traceparent the request's `traceparent` header, unchecked.
 * @returns the trace, and the columns of the run that depend on it and on the deployment.
 */
export type TraceRun = (
  run: Pick<NewRun, 'botId' | 'environment' | 'channel' | 'entrance'> & {
    sessionId?: string | null;
    client?: string | null | undefined;
  },
  deployment: RunningDeployment,
  traceparent: unknown,
) => {
  trace: Trace;
  columns: Pick<NewRun, 'deploymentId' | 'model' | 'sessionId' | 'traceId'>;
};

export function createTraceRun({
  agent,
  tracing,
}: {
  agent: Pick<Agent, 'modelOf'>;
  tracing: Tracing;
}): TraceRun {
  return ({ sessionId = null, client, ...run }, deployment, traceparent) => {
    const { definition, isDraft } = deployment;
    const deploymentId = isDraft ? null : deployment.deploymentId;
    const { name: model, provider } = agent.modelOf(deployment);
    const { botId, environment, channel, entrance } = run;
    const place = { botId, deploymentId, environment, channel, entrance };
    const traced = { ...place, client, sessionId, model };
    const trace = tracing.begin({ ...traced, agentName: definition.name, provider }, traceparent);
    const columns = { deploymentId, model: readModelName(model), sessionId, traceId: trace.id };
    return { trace, columns };
  };
}
