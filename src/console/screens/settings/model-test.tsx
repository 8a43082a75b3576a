import { useState } from 'react';
import { TestModel, type TestModelMutation } from '../../../generated/operations/console.ts';
import { Button } from '../../parts/button.tsx';
import { Refused } from '../../parts/state.tsx';
import { useMutate } from '../../server/operations.ts';
import { CheckList, type ShownCheck } from './check-list.tsx';
import './model-test.css';

type Test = NonNullable<TestModelMutation['testModel']>;
type Check = Test['checks'][number];

const NAMES: Record<Check['name'], string> = {
  REACHABLE: 'Server',
  API_KEY: 'Key',
  MODEL: 'Name',
  STREAMING: 'Stream',
  TOOLS: 'Tools',
  JSON_OUTPUT: 'JSON',
  USAGE: 'Usage',
  PARAMETERS: 'Settings',
};

/** The model that answers for definitions that name none, with a button that tests it. */
export function DefaultModel({ name }: { name: string }) {
  const { isBusy, problem, run } = useMutate(TestModel);
  const [result, setResult] = useState<Test>();
  const test = async () => {
    const { data } = await run({});
    setResult(data?.testModel ?? undefined);
  };
  return (
    <section>
      <h2>Default model</h2>
      <div className="model-test-actions">
        <span className="mono">{name}</span>
        <Button isBusy={isBusy} onClick={() => void test()}>
          Test model
        </Button>
        <span className="settings-note">
          {isBusy
            ? 'Asking the model, up to 20 seconds.'
            : 'Asks it two short questions, which cost some tokens.'}
        </span>
      </div>
      <Refused problem={problem} />
      <div className="model-test-result" aria-live="polite">
        {result && !isBusy && <Result test={result} />}
      </div>
    </section>
  );
}

function Result({ test: { checks, usable } }: { test: Test }) {
  const failed = checks.filter(({ status }) => status === 'FAILED');
  const skipped = checks.filter(({ status }) => status === 'SKIPPED');
  return (
    <>
      <p>{summaryOf(usable, failed.length)}</p>
      <CheckList
        checks={checks
          .filter(({ status }) => status !== 'SKIPPED')
          .map((check) => resultOf(check, usable))}
      />
      {skipped.length > 0 && (
        <p className="settings-note">
          Not checked: {skipped.map(({ name }) => NAMES[name]).join(', ')}.
        </p>
      )}
    </>
  );
}

function summaryOf(usable: boolean, failed: number): string {
  if (!usable) return 'The model cannot be used.';
  if (failed === 0) return 'The model works.';
  return 'The model works, but not with everything.';
}

/** The result of a check that was made. @param usable whether bots can use the model. */
function resultOf({ name, status, message, advice }: Check, usable: boolean): ShownCheck {
  const shown = { name: NAMES[name], message, advice };
  if (status === 'PASSED') return { ...shown, tone: 'good', result: 'passed' };
  return { ...shown, tone: usable ? 'warn' : 'bad', result: 'failed' };
}
