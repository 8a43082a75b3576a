import { useState } from 'react';
import { TestModel, type TestModelMutation } from '../../../generated/operations/console.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Refused } from '../../parts/state.tsx';
import { useMutate } from '../../server/operations.ts';
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
      <ul className="model-checks">
        {checks.map((check) => (
          <CheckRow key={check.name} check={check} usable={usable} />
        ))}
      </ul>
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

function CheckRow({ check, usable }: { check: Check; usable: boolean }) {
  const { name, status, message, advice } = check;
  if (status === 'SKIPPED') return null;
  const failed = usable ? 'warn' : 'bad';
  const tone = status === 'PASSED' ? 'good' : failed;
  const icons = { good: 'check', warn: 'warning', bad: 'close' } as const;
  return (
    <li className={`model-check model-check-${tone}`}>
      <Icon name={icons[tone]} />
      <b>
        {NAMES[name]}
        <span className="unseen">{status === 'PASSED' ? ' passed' : ' failed'}</span>
      </b>
      <p>{message}</p>
      {advice && <p className="model-check-advice">{advice}</p>}
    </li>
  );
}
