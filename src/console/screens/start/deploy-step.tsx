import { useState } from 'react';
import { Deploy, type DeployMutation } from '../../../operations/console/operations.ts';
import { Button } from '../../parts/button.tsx';
import { TextArea, TextField } from '../../parts/field.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Refused } from '../../parts/state.tsx';
import { toast } from '../../parts/toast.tsx';
import { useMutate } from '../../server/operations.ts';
import { lacks, useScope } from '../../server/viewer.ts';
import { EXAMPLES } from './examples.ts';
import { type Finding, useReading } from './use-reading.ts';

/** Deploys a definition to production: an example, or a pasted one. It is read at each change. */
export function DeployStep({ botId, onDeployed }: { botId: string; onDeployed(): void }) {
  const [source, setSource] = useState(EXAMPLES[0]?.source ?? '');
  const [values, setValues] = useState<Record<string, string>>({});
  const [refused, setRefused] = useState<NonNullable<DeployMutation['deploy']>['diagnostics']>([]);
  const reading = useReading(source);
  const mayDeploy = useScope('DEPLOY');
  const { isBusy, problem, run } = useMutate(Deploy, ['Bot', 'Deployment']);
  const hasErrors = reading.findings.some(({ severity }) => severity === 'ERROR');
  const submit = async () => {
    const envVars = reading.envNames.flatMap((name) => {
      const value = values[name];
      return value ? [{ name, value }] : [];
    });
    const { data } = await run({ botId, input: { source, envVars } });
    if (!data?.deploy) return;
    const { status, diagnostics } = data.deploy;
    setRefused(status === 'FAILED' ? diagnostics : []);
    if (status === 'FAILED') return;
    toast('Deployed to production.');
    onDeployed();
  };
  const change = (text: string) => {
    setSource(text);
    setRefused([]);
  };
  return (
    <form
      className="form step-form-wide"
      onSubmit={(event) => {
        event.preventDefault();
        if (mayDeploy && !hasErrors && !isBusy) void submit();
      }}
    >
      <Segments
        label="Example"
        options={EXAMPLES.map(({ name }) => ({ name, label: name }))}
        current={EXAMPLES.find((example) => example.source === source)?.name}
        onChange={(name) => change(EXAMPLES.find((example) => example.name === name)?.source ?? '')}
      />
      <TextArea
        label="Definition"
        isMono
        rows={12}
        required
        placeholder="Paste a definition in agentlang 5."
        value={source}
        onChange={({ target }) => change(target.value)}
      />
      <Findings findings={refused.length > 0 ? refused : reading.findings} />
      {reading.envNames.map((name) => (
        <TextField
          key={name}
          label={`env.${name}`}
          type="password"
          isMono
          autoComplete="new-password"
          hint="Stored encrypted, and never shown again."
          value={values[name] ?? ''}
          onChange={({ target }) => setValues({ ...values, [name]: target.value })}
        />
      ))}
      <Refused problem={problem} />
      <div>
        <Button
          type="submit"
          look="primary"
          isBusy={isBusy}
          unavailable={
            (!mayDeploy && lacks('DEPLOY')) || (hasErrors && 'Correct the errors first.')
          }
        >
          Deploy to production
        </Button>
      </div>
    </form>
  );
}

function Findings({ findings }: { findings: Finding[] }) {
  if (findings.length === 0) return null;
  return (
    <ul className="findings" aria-label="Problems">
      {findings.map(({ severity, line, column, message, code }) => (
        <li key={`${line}:${column}:${code}`} className={`finding-${severity.toLowerCase()}`}>
          <span className="mono">
            {line}:{column}
          </span>
          <span>
            {severity === 'ERROR' ? 'Error' : 'Warning'}: {message}
          </span>
        </li>
      ))}
    </ul>
  );
}
