import { createAccountsDomain } from '../accounts/compose.ts';
import { createBotTools } from '../agent/bot-tools.ts';
import { createAgentDomain } from '../agent/compose.ts';
import { createModelTests } from '../agent/model-tests.ts';
import { createSentPrompts } from '../agent/sent-prompt.ts';
import { createApprovalsDomain } from '../approvals/compose.ts';
import { createBots } from '../bots/bots.ts';
import { createChannelConnections, createChannelsDomain } from '../channels/compose.ts';
import { createChatPages } from '../channels/web/chat-pages.ts';
import { createFindLogo } from '../channels/web/logos.ts';
import { createVisits } from '../channels/web/visits.ts';
import { createCoordination, joinDatabase } from '../coordination/compose.ts';
import { createServerState } from '../coordination/server-state.ts';
import { createActiveDeployments } from '../deployments/active.ts';
import { createDeploymentsDomain } from '../deployments/compose.ts';
import { createDeployedBots } from '../deployments/deployed-bots.ts';
import { createEvaluationsDomain } from '../evaluations/compose.ts';
import { createExecutionDomain } from '../execution/compose.ts';
import { type Observer, UNOBSERVED } from '../observability/observer.ts';
import { createRunsDomain } from '../runs/compose.ts';
import { createActiveRuns } from '../runs/life/active-runs.ts';
import { createSessionsDomain } from '../sessions/compose.ts';
import { startAnalysis } from './analysis.ts';
import type { ComposedDomains, DomainOptions } from './composed-domains.ts';

/**
 * Composes the domains from an open database and a model. The caller drains them before the lifetime ends.
 *
 * @param observer receives the events that the metrics count; absent by default.
 */
export async function createDomains(
  {
    database,
    redis,
    cipher,
    secretKeys,
    model,
    allowedOrigins = [],
    checkServer,
    allowedHosts,
    publicUrl,
    telegram,
    otlpEndpoint,
    resourceAttributes,
    retentionDays,
    promptDays,
    toolCallDays,
    evaluationDays,
    judgeModel,
    clock,
    log,
    lifetime,
  }: DomainOptions,
  observer: Observer = UNOBSERVED,
): Promise<ComposedDomains> {
  const { prisma, sql, search, analyze } = database;
  const { pubsub, versions, createCounter } = createCoordination({ redis, clock, log, lifetime });
  const {
    accounts,
    keys,
    sessionTokens,
    findVisited,
    lookUps,
    consoleSessions,
    signInCodes,
    limits,
  } = createAccountsDomain({
    prisma,
    pubsub,
    versions,
    createCounter,
    secretKeys,
    clock,
    log,
    lifetime,
  });
  const activeRuns = createActiveRuns({ pubsub });
  const { owner, looks, warning } = await joinDatabase({
    database,
    redis,
    onLost: activeRuns.abortAll,
    log,
    lifetime,
  });
  const shared = { prisma, owner, looks, pubsub, log, lifetime };
  if (analyze) lifetime.onStart(() => startAnalysis(analyze, log));
  const { sessions, history, memory, turns, deleteLastTurn } = createSessionsDomain({
    ...shared,
    sql,
  });
  const {
    runs,
    queue,
    queueDepth,
    runList,
    runExport,
    runFeedback,
    runStats,
    runUsage,
    runChanges,
    replay,
    cancel,
    tracing,
  } = await createRunsDomain({
    ...shared,
    sql,
    search,
    activeRuns,
    otlpEndpoint,
    resourceAttributes,
    retentionDays,
    promptDays,
    toolCallDays,
    evaluationDays,
    clock,
    observer,
  });
  const { agent, models, approvedCalls, probeTools, scriptedAgent } = createAgentDomain({
    history,
    memory,
    model,
    allowedHosts,
    observer,
    log,
    lifetime,
  });
  const activeDeployments = createActiveDeployments({ prisma, cipher });
  const connections = createChannelConnections({
    ...shared,
    activeDeployments,
    publicUrl,
    telegram,
  });
  const { connector, deliverOutcome } = connections;
  const { deploy, deployChecks, deploymentChanges, drafts, settleGate } = createDeploymentsDomain({
    prisma,
    pubsub,
    versions,
    cipher,
    probeTools,
    connections: connector,
    allowedHosts,
  });
  const execution = createExecutionDomain({
    ...shared,
    sql,
    activeDeployments,
    drafts,
    agent,
    sessions,
    turns,
    activeRuns,
    runs,
    queue,
    replay,
    tracing,
    promptDays,
    toolCallDays,
    observer,
  });
  const { startChat, startExecute } = execution;
  const { approvals } = createApprovalsDomain({
    ...shared,
    activeDeployments,
    approvedCalls,
    startChat,
    startExecute,
    deliverOutcome,
    runChanges,
    toolCallDays,
  });
  const { evaluations } = createEvaluationsDomain({
    ...shared,
    drafts,
    settleGate,
    deploymentChanges,
    judgeModel,
    cipher,
    models,
    scriptedAgent,
    limits,
    runList,
    allowedHosts,
  });
  const visits = createVisits({ sessionTokens, counter: createCounter(), secretKeys, now: clock });
  const { telegramWebhook, stopTaking } = createChannelsDomain({
    ...shared,
    limits,
    lookUps,
    activeDeployments,
    connections,
    sessions,
    cancel,
    startChat,
    approvals,
    secretKeys,
  });
  return {
    domains: {
      prisma,
      accounts,
      keys,
      sessionTokens,
      signInCodes,
      bots: createBots({ prisma, pubsub, versions, releaseChannels: connector.release }),
      deploy,
      deployChecks,
      deploymentChanges,
      deployedBots: createDeployedBots({ prisma }),
      sessions,
      deleteLastTurn,
      startChat,
      startExecute,
      runList,
      runExport,
      runFeedback,
      sentPrompts: createSentPrompts({ prisma, activeDeployments }),
      modelTests: createModelTests({ models, activeDeployments, counter: createCounter() }),
      runStats,
      runUsage,
      runChanges,
      replay,
      cancel,
      approvals,
      evaluations,
      chatPages: createChatPages({ prisma, activeDeployments, publicUrl }),
      botTools: createBotTools({ prisma, activeDeployments }),
      visits,
      server: createServerState({ database, redis, model, allowedOrigins, checkAll: checkServer }),
    },
    sessionTokens,
    consoleSessions,
    signInCodes,
    limits,
    visits,
    findVisited,
    findLogo: createFindLogo({ prisma, lookUps }),
    warnings: () => [...(redis?.state().warnings ?? []), warning() ?? []].flat(),
    queueDepth,
    telegramWebhook,
    async drain(limitMs) {
      await stopTaking();
      await execution.drain(limitMs);
    },
  };
}
