import type { Limits } from '../accounts/limits.ts';
import type { Agent } from '../agent/agent.ts';
import type { Script } from '../agent/scripted-agent.ts';
import type { Lifetime } from '../async/lifetime.ts';
import { type Looks, wakeWhile } from '../coordination/looks.ts';
import { createNotices } from '../coordination/notices.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { Owner } from '../coordination/worker-lease.ts';
import type { DeploymentChanges } from '../deployments/changes.ts';
import type { Drafts } from '../deployments/drafts.ts';
import type { EnvironmentCipher } from '../deployments/environment.ts';
import { EVALUATION_WORK, IS_WORK_DUE } from '../deployments/evaluation-work.ts';
import { createReadSource } from '../deployments/read-source.ts';
import type { SettleGate } from '../deployments/settle-gate.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Models } from '../model/models.ts';
import type { Log } from '../observability/log.ts';
import type { RunList } from '../runs/list/list.ts';
import { createEvaluations, type Evaluations } from './evaluations.ts';
import { createExecute } from './execute.ts';
import { createGates } from './gates.ts';
import { createJudge } from './judge.ts';
import { createReadRecordedRun } from './recorded-run.ts';
import { createFindReplayed } from './replay-request.ts';
import { createRunReplay } from './run-replay.ts';
import { createRunTest } from './run-test.ts';
import { createWork } from './work.ts';
import { startWorker } from './worker.ts';

type Parts = {
  prisma: PrismaClient;
  owner: Owner;
  looks: Looks;
  pubsub: PubSub;
  drafts: Drafts;
  settleGate: SettleGate;
  deploymentChanges: DeploymentChanges;
  cipher: EnvironmentCipher;
  models: Models;
  judgeModel?: string | undefined;
  scriptedAgent: (script: Script) => Agent;
  limits: Limits;
  runList: RunList;
  allowedHosts: string[];
  log: Log;
  lifetime: Lifetime;
};

/** Composes the domain of evaluations, and starts its worker with the lifetime. */
export function createEvaluationsDomain({
  prisma,
  owner,
  looks,
  pubsub,
  drafts,
  settleGate,
  deploymentChanges,
  cipher,
  models,
  judgeModel,
  scriptedAgent,
  limits,
  runList,
  allowedHosts,
  log,
  lifetime,
}: Parts): { evaluations: Evaluations } {
  const read = createReadSource({ allowedHosts });
  const followNotices = createNotices(pubsub);
  const findReplayed = createFindReplayed({ prisma, runList });
  const evaluations = createEvaluations({
    prisma,
    pubsub,
    followNotices,
    drafts,
    cipher,
    read,
    findReplayed,
  });
  const work = createWork({ prisma, owner });
  const judge = createJudge({ models, judgeModel });
  const { notify } = evaluations;
  const execute = createExecute({
    prisma,
    work,
    runTest: createRunTest({ scriptedAgent, judge }),
    runReplay: createRunReplay({ scriptedAgent, judge }),
    readRecordedRun: createReadRecordedRun({ prisma }),
    cipher,
    read,
    limits,
    notify,
    log,
  });
  const gates = createGates({
    prisma,
    pubsub,
    cipher,
    read,
    findReplayed,
    evaluations,
    settleGate,
    deploymentChanges,
    log,
  });
  lifetime.onStart(() => startWorker({ work, execute, gates, pubsub, log }));
  const due = { what: 'The start of evaluations', condition: IS_WORK_DUE };
  looks.add(wakeWhile({ ...due, pubsub, channel: EVALUATION_WORK }));
  return { evaluations };
}
