import { useDeferredValue, useState } from 'react';
import type { Environment } from '../../generated/operations/console.ts';
import { changesBetween } from '../diff/variables.ts';
import { AWAY } from '../server/problem.ts';
import { useScope } from '../server/viewer.ts';
import { type DeploymentChange, sourceOf } from './deployment-change.ts';
import { type DeployOutcome, useDeploy, useRedeploy } from './use-deploy.ts';
import { useDeployCheck } from './use-deploy-check.ts';
import { type Finding, useReading } from './use-reading.ts';
import { useRunning } from './use-running.ts';
import { changesIn, NO_VARIABLES, variableFields } from './variable-draft.ts';
import { versionName } from './version.ts';

const NO_NAMES: readonly string[] = [];

type Result = { outcome: DeployOutcome; isSurprise: boolean };

export type DeployForm = ReturnType<typeof useDeployForm>;

/**
 * The state of a deploy, a promotion or a rollback: the active deployment, the input, the checks, and the outcome of the
 * last attempt. The input stays until it succeeds. Each environment has its own variables and outcome, so that no secret of
 * one reaches the other.
 */
export function useDeployForm({
  botId,
  change,
  environment,
  isShown,
}: {
  botId: string;
  change: DeploymentChange;
  environment: Environment;
  /** Whether the form shows. A hidden one checks nothing. */
  isShown: boolean;
}) {
  const source = sourceOf(change);
  const isRollback = change.kind === 'rollback';
  const [draft, setDraft] = useOwnState(environment, NO_VARIABLES);
  const [message, setMessage] = useState('');
  const [skipsGate, setSkipsGate] = useState(false);
  // The question whose answer is awaited.
  const [asked, setAsked] = useState<string>();
  const [result, setResult] = useOwnState<Result | undefined>(environment, undefined);
  const reading = useRunning(botId, environment);
  const { bot, running } = reading;
  // Each environment has its own unanswered request.
  const deploys = { PRODUCTION: useDeploy(botId), STAGING: useDeploy(botId) };
  const redeploys = useRedeploy(botId, isRollback ? 'rollback' : 'promote');
  // Typing does not wait for the difference.
  const shown = useDeferredValue(source);
  const before = running?.envNames ?? [];
  // The answer of the server names the variables of the source, which the next request needs.
  const [used, setUsed] = useState(NO_NAMES);
  const fields = isRollback ? [] : variableFields(used, before, draft);
  const changes = changesIn(fields);
  const hasChanges = changes.set.length > 0 || changes.unset.length > 0;
  const input = {
    source,
    environment,
    envVars: changes.set.map((name) => ({ name, value: draft.values[name] ?? '' })),
    unsetEnvVars: changes.unset,
  };
  const mayCheck = useScope('DEPLOY') && bot !== undefined && source.trim() !== '';
  const checkedInput = isShown && mayCheck ? input : undefined;
  const { check, ...checked } = useDeployCheck(botId, checkedInput, running?.id);
  const named = check?.envNames ?? NO_NAMES;
  if (named !== used) setUsed(named);
  const { diagnose, isRead } = useReading(isRollback && isShown ? source : '');
  // A promotion takes the variables of production. With changed ones it is a deploy of the same definition.
  const isAgain = isRollback || (change.kind === 'promote' && !hasChanges);
  const found = check?.diagnostics ?? [];
  const findings = isRollback
    ? withVariables(found, diagnose(change.deployment.envNames))
    : found.filter(
        // Only a deploy must send a variable again that goes to another server.
        ({ code }) => change.kind === 'deploy' || hasChanges || code !== 'env-new-destination',
      );
  const warnings = findings.filter(({ severity }) => severity === 'WARNING').length;
  const hasErrors = !isRollback && checked.isCurrent && findings.length > warnings;
  const gate = environment === 'PRODUCTION' && !isRollback ? (bot?.gate ?? undefined) : undefined;
  // Only production is worth a second question, and only if the checks have warnings. A rollback runs what ran before.
  const isAsked = environment === 'PRODUCTION' && warnings > 0 && !isRollback;
  const { isBusy, problem } = isAgain ? redeploys : deploys[environment];
  // What the person decides about. Another input, environment, active deployment or check is another question.
  const question = () => JSON.stringify([input, running?.id, findings, gate && skipsGate]);
  if (asked !== undefined && !isBusy && asked !== question()) setAsked(undefined);

  const send = () => {
    const note = message.trim() || null;
    const skipGate = gate !== undefined && skipsGate;
    if (isAgain) return redeploys.redeploy(change.deployment.id, { message: note, skipGate });
    const promotion =
      change.kind === 'promote' ? `Promotion of ${versionName(change.deployment)}` : null;
    return deploys[environment].deploy({
      ...input,
      message: note ?? promotion,
      ...(skipGate && { skipGate }),
    });
  };
  const submit = async () => {
    const outcome = await send();
    setAsked(undefined);
    if (!outcome) return;
    setResult({ outcome, isSurprise: outcome.previous?.id !== running?.id });
    if (outcome.status === 'FAILED') return;
    setDraft(NO_VARIABLES);
    setMessage('');
    setSkipsGate(false);
  };

  return {
    reading,
    shown,
    draft,
    setDraft,
    message,
    setMessage,
    fields,
    findings,
    warnings,
    hasErrors,
    // The active deployment can be the result of an attempt whose answer was lost, and which another attempt asks for.
    isSame:
      change.kind === 'deploy' &&
      running?.source === source &&
      !hasChanges &&
      problem?.code !== AWAY.code,
    isChecking: checked.isAwaited,
    isChecked: checked.isCurrent && (!isRollback || isRead),
    checkProblem: checked.problem,
    restored: isRollback ? changesBetween(before, change.deployment.envNames, []) : undefined,
    gate,
    skipsGate,
    setSkipsGate,
    result,
    forgetResult: () => {
      setResult(undefined);
      setAsked(undefined);
    },
    isAsked,
    isConfirming: isAsked && asked !== undefined,
    setConfirming: (isOn: boolean) => setAsked(isOn ? question() : undefined),
    isBusy,
    problem,
    submit,
  };
}

/** Problems that depend on the variables. */
const OF_VARIABLES = ['env-unset', 'env-unused', 'env-new-destination', 'invalid-chat'];

/**
 * The problems of a rollback: the server checks the variables of the active deployment, but a rollback restores others. Only
 * the server knows which hosts the operator allows.
 *
 * @param read the problems that this browser finds, with the restored variables.
 */
function withVariables(found: Finding[], read: Finding[]): Finding[] {
  const isOfVariables = ({ code }: Finding) => OF_VARIABLES.includes(code);
  return [...found.filter((one) => !isOfVariables(one)), ...read.filter(isOfVariables)].toSorted(
    (one, other) => one.line - other.line || one.column - other.column,
  );
}

/** A separate state for each environment. */
function useOwnState<Value>(
  environment: Environment,
  initial: Value,
): [Value, (value: Value) => void] {
  const [values, setValues] = useState({ PRODUCTION: initial, STAGING: initial });
  return [
    values[environment],
    (value) => setValues((before) => ({ ...before, [environment]: value })),
  ];
}
