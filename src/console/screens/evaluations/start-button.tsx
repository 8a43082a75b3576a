import { useState } from 'react';
import { useLocation } from 'wouter';
import {
  BeginEvaluation,
  type Environment,
  EvaluationForecast,
  type EvaluationInput,
} from '../../../generated/operations/console.ts';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { versionName } from '../../deploy/version.ts';
import { evaluationsAddress } from '../../evaluations/labels.ts';
import { ENVIRONMENT_OPTIONS, useEnvironment } from '../../frame/environments.ts';
import { quantity } from '../../numbers.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { SelectField } from '../../parts/field.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Refused, Skeleton } from '../../parts/state.tsx';
import { useMutate, useServerQuery } from '../../server/operations.ts';
import { lacks, useScope } from '../../server/viewer.ts';
import type { Testable } from './use-evaluations.ts';

const REPEATS = [1, 2, 3, 5, 10];

const LASTS = [10, 50, 100, 500];

const CASES = [
  { name: 'tests', label: 'Tests' },
  { name: 'replay', label: 'Recorded runs' },
] as const;

type Cases = (typeof CASES)[number]['name'];

/** Opens a dialog that evaluates the definition in an environment: its tests, or recorded runs. */
export function StartButton({
  botId,
  testable,
}: {
  botId: string;
  testable: Testable | undefined;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        look="primary"
        icon="tests"
        unavailable={
          testable && !testable.production && !testable.staging && 'Nothing is deployed yet.'
        }
        isBusy={!testable}
        onClick={() => setOpen(true)}
      >
        Evaluate…
      </Button>
      {isOpen && testable && (
        <StartDialog botId={botId} testable={testable} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

function StartDialog({
  botId,
  testable,
  onClose,
}: {
  botId: string;
  testable: Testable;
  onClose(): void;
}) {
  const [, navigate] = useLocation();
  const { chosen } = useEnvironment();
  const [environment, setEnvironment] = useState<Environment>(
    chosen ?? (testable.production ? 'PRODUCTION' : 'STAGING'),
  );
  const [cases, setCases] = useState<Cases>('tests');
  const [last, setLast] = useState(50);
  const [repeat, setRepeat] = useState(1);
  const mayReplay = useScope('RUNS');
  const { isBusy, problem, run } = useMutate(BeginEvaluation);
  const deployment = environment === 'PRODUCTION' ? testable.production : testable.staging;
  const what = cases === 'tests' ? {} : { tests: false, replay: { last } };
  const input = { deploymentId: deployment?.id ?? '', environment, repeat, ...what };
  const isReady = deployment !== null && (cases === 'tests' || mayReplay);
  const submit = async () => {
    const { data } = await run({ botId, input });
    if (data?.startEvaluation) navigate(evaluationsAddress(botId, data.startEvaluation.id));
  };
  return (
    <Dialog title="Evaluate a definition" onClose={onClose}>
      <DialogForm
        action="Evaluate"
        isBusy={isBusy}
        problem={problem}
        unavailable={
          (!deployment && `Nothing is deployed to ${toLowerCase(environment)}.`) ||
          (cases === 'replay' && !mayReplay && lacks('RUNS'))
        }
        onSubmit={() => void submit()}
        onCancel={onClose}
      >
        <p>
          The model answers again. No tool is called, and no session, memory or deployment changes.
        </p>
        <Segments<Cases> label="Cases" options={[...CASES]} current={cases} onChange={setCases} />
        {cases === 'replay' && (
          <SelectField
            label="Newest runs"
            hint="Each finished run is repeated with its recorded message, history, memory and tool results."
            value={last}
            onChange={({ target }) => setLast(Number(target.value))}
          >
            {LASTS.map((count) => (
              <option key={count} value={count}>
                {count}
              </option>
            ))}
          </SelectField>
        )}
        <Segments<Environment>
          label="Environment"
          options={ENVIRONMENT_OPTIONS}
          current={environment}
          onChange={setEnvironment}
        />
        {deployment && <p className="soft">With {versionName(deployment)}, which runs there.</p>}
        <SelectField
          label="Repeat"
          hint="A case passes if all of its attempts pass. Each attempt counts as a request of the account."
          value={repeat}
          onChange={({ target }) => setRepeat(Number(target.value))}
        >
          {REPEATS.map((count) => (
            <option key={count} value={count}>
              {count === 1 ? 'once' : `${count} times`}
            </option>
          ))}
        </SelectField>
        {isReady && <Forecast botId={botId} input={input} />}
      </DialogForm>
    </Dialog>
  );
}

/** The estimated cost of the evaluation. */
function Forecast({ botId, input }: { botId: string; input: EvaluationInput }) {
  const { data, problem } = useServerQuery(EvaluationForecast, { botId, input });
  const forecast = data?.evaluationForecast;
  if (problem) return <Refused problem={problem} />;
  if (!forecast) return <Skeleton width="60%" />;
  const { tests, runs, modelCalls, tokens } = forecast;
  const cases = tests + runs;
  return (
    <p className="soft" role="status">
      {cases === 0
        ? 'There is nothing to evaluate.'
        : `${quantity(cases, 'case')}: about ${modelCalls.toLocaleString('en')} model calls and ${tokens.toLocaleString('en')} tokens.`}
    </p>
  );
}
