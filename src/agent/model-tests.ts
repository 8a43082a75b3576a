import { createSharedCalls } from '../async/share-call.ts';
import type { FixedWindowCounter, WindowLimit } from '../coordination/fixed-window-counter.ts';
import type { ActiveDeployments, RunningDeployment } from '../deployments/active.ts';
import { GatewayError } from '../errors/errors.ts';
import type { Environment } from '../generated/prisma/client.ts';
import { isUsable, type ModelCheck } from '../model/check/model-check.ts';
import { checksAfter, type ModelTestOptions, testModel } from '../model/check/test-model.ts';
import {
  CONFIGURE_SERVER,
  DEFINITIONS_SERVER,
  OPERATORS_SERVER,
  SHARED_SERVER,
  serverAdvice,
  type TestedServer,
} from '../model/check/tested-server.ts';
import { ModelError, withDetail } from '../model/failure.ts';
import type { Model } from '../model/model.ts';
import type { Models } from '../model/models.ts';
import type { Redactor } from '../redaction/redact.ts';
import { MAX_MODEL_NAME, readModelName } from '../runs/record/model-name.ts';
import { hasOwnServer, modelOf, openModel } from './open-model.ts';
import { redactFailure, shorten } from './untrusted-text.ts';

/** The result of a model test. */
export type ModelTest = {
  /** The name of the model, up to 256 characters. */
  model: string;
  /** Whether bots can use the model, though some features may be missing. */
  isUsable: boolean;
  /** All checks, in order. A sentence has at most `MAX_SENTENCE` characters. */
  checks: ModelCheck[];
};

/** Tests models with short questions. */
export type ModelTests = {
  /**
   * Tests the model of a bot's active deployment with its settings. The sentences hold no value of the deployment's variables.
   * Of the operator's server, they hold neither the host nor advice about its settings.
   *
   * @throws GatewayError `bot_not_deployed`, or `rate_limit_exceeded` after 10 tests of the account in this UTC minute.
   */
  testBot(bot: TestedBot, accountId: string, signal: AbortSignal): Promise<ModelTest>;
  /**
   * Tests the operator's default model, for the operator.
   *
   * @throws GatewayError `rate_limit_exceeded`, as `testBot`.
   */
  testDefault(accountId: string, signal: AbortSignal): Promise<ModelTest>;
};

type TestedBot = { botId: string; environment: Environment; version?: string | undefined };

/** Characters of a sentence. */
export const MAX_SENTENCE = 2_000;

/** Tests of one account. Each makes up to a few dozen requests to the model server. */
const LIMIT: WindowLimit = { perMinute: 10, perDay: Number.MAX_SAFE_INTEGER };
const MINUTE_S = 60;

/** A model with the options of its test. If the model cannot be asked, the results of all checks. */
type Tested = { model: Model; options: ModelTestOptions } | { checks: ModelCheck[] };

/**
 * Concurrent tests of a deployment, or of the operator's default model, share one test in this process.
 *
 * @param counter counts the tests of accounts.
 */
export function createModelTests({
  models,
  activeDeployments,
  counter,
}: {
  models: Models;
  activeDeployments: Pick<ActiveDeployments, 'find'>;
  counter: FixedWindowCounter;
}): ModelTests {
  const running = createSharedCalls<ModelCheck[]>();

  const run = async (key: string, tested: Tested, accountId: string, signal: AbortSignal) => {
    if ('checks' in tested) return tested.checks;
    const test = async (ownSignal: AbortSignal) => {
      const { taken, now } = await counter.take(`model-tests:${accountId}`, 1, LIMIT);
      if (!taken) throw tooMany(MINUTE_S - (now % MINUTE_S));
      return testModel(tested.model, tested.options, ownSignal);
    };
    return running.join(key, test, signal);
  };

  return {
    async testBot({ botId, environment, version }, accountId, signal) {
      const deployment = await activeDeployments.find(botId, environment, version);
      const { deploymentId, redactor } = deployment;
      const tested = testedModel(models, deployment);
      const checks = await run(`deployment ${deploymentId}`, tested, accountId, signal);
      return {
        model: shorten(modelOf(models, deployment).name, MAX_MODEL_NAME, redactor),
        isUsable: isUsable(checks),
        checks: checks.map((check) => redactedCheck(check, redactor)),
      };
    },

    async testDefault(accountId, signal) {
      const model = models.at({});
      const checks = await run('default', testedDefault(model), accountId, signal);
      return { model: readModelName(model.nameFor()), isUsable: isUsable(checks), checks };
    },
  };
}

function testedDefault(model: Model): Tested {
  if (!model.server) return offline(OPERATORS_SERVER);
  const { host, hasKey } = model.server;
  return { model, options: { server: { ...OPERATORS_SERVER, name: host, hasKey } } };
}

function testedModel(models: Models, deployment: RunningDeployment): Tested {
  const { redactor, definition } = deployment;
  const { name, temperature, reasoning: reasoningEffort, parameters } = definition.model;
  const isOwn = hasOwnServer(deployment);
  let model: Model;
  try {
    model = openModel(models, deployment);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const advice = 'Deploy the definition again, with a value for the variable.';
    return { checks: checksAfter({ name: 'REACHABLE', message: error.message, advice }) };
  }
  if (!model.server) return offline(SHARED_SERVER);
  const { host, hasKey } = model.server;
  const safe = redactingModel(model, redactor, isOwn ? '' : host);
  const server = { ...(isOwn ? DEFINITIONS_SERVER : SHARED_SERVER), hasKey };
  const settings = { temperature, reasoningEffort, parameters };
  return { model: safe, options: { name, settings, server } };
}

function offline(server: Pick<TestedServer, 'isReaders'>): Tested {
  const message =
    'No model server is configured: the offline model answers, which only repeats messages.';
  const advice = serverAdvice(server, CONFIGURE_SERVER);
  return { checks: checksAfter({ name: 'REACHABLE', message, advice }) };
}

/**
 * A model whose failures quote no value of variables.
 *
 * @param host a host that the failures do not quote either; empty if they may quote every host.
 */
function redactingModel(model: Model, redactor: Redactor, host: string): Model {
  const names = [host, host.replace(/:\d+$/, '')].filter(Boolean).map(RegExp.escape);
  const hosts = new RegExp(names.join('|') || '(?!)', 'gi');
  const withoutHost = (error: unknown) =>
    error instanceof ModelError
      ? withDetail(error, (detail) => detail.replaceAll(hosts, 'the model server'))
      : error;
  return {
    ...model,
    async stream(...call) {
      try {
        await model.stream(...call);
      } catch (error) {
        throw redactFailure(withoutHost(error), redactor);
      }
    },
  };
}

function redactedCheck({ message, advice, ...check }: ModelCheck, redactor: Redactor): ModelCheck {
  return {
    ...check,
    message: shorten(message, MAX_SENTENCE, redactor),
    ...(advice && { advice: shorten(advice, MAX_SENTENCE, redactor) }),
  };
}

function tooMany(retryAfter: number): GatewayError {
  const wait = `${retryAfter} ${retryAfter === 1 ? 'second' : 'seconds'}`;
  const message = `Too many tests of models. Wait ${wait}.`;
  return new GatewayError('rate_limit_exceeded', message, { retryAfter });
}
