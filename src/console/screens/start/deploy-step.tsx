import { useState } from 'react';
import { Findings } from '../../deploy/findings.tsx';
import { type DeployOutcome, useDeploy } from '../../deploy/use-deploy.ts';
import { useReading } from '../../deploy/use-reading.ts';
import { useRunning } from '../../deploy/use-running.ts';
import { changesIn, NO_VARIABLES, variableFields } from '../../deploy/variable-draft.ts';
import { VariableFields } from '../../deploy/variable-fields.tsx';
import { Button } from '../../parts/button.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Refused } from '../../parts/state.tsx';
import { toast } from '../../parts/toast.tsx';
import { lacks, useScope } from '../../server/viewer.ts';
import { EXAMPLES } from './examples.ts';

/** Deploys a definition to production: an example, or a pasted one. It is read at each change. */
export function DeployStep({ botId, onDeployed }: { botId: string; onDeployed(): void }) {
  const [source, setSource] = useState(EXAMPLES[0]?.source ?? '');
  const [draft, setDraft] = useState(NO_VARIABLES);
  const [refused, setRefused] = useState<DeployOutcome['diagnostics']>([]);
  const { envNames, diagnose } = useReading(source);
  const findings = diagnose();
  const { running } = useRunning(botId, 'PRODUCTION');
  const fields = variableFields(envNames, running?.envNames ?? [], draft);
  const mayDeploy = useScope('DEPLOY');
  const { isBusy, problem, deploy } = useDeploy(botId);
  const hasErrors = findings.some(({ severity }) => severity === 'ERROR');
  const submit = async () => {
    const { set, unset } = changesIn(fields);
    const outcome = await deploy({
      source,
      envVars: set.map((name) => ({ name, value: draft.values[name] ?? '' })),
      unsetEnvVars: unset,
    });
    if (!outcome) return;
    const { status, diagnostics } = outcome;
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
      <Findings findings={refused.length > 0 ? refused : findings} />
      <VariableFields fields={fields} draft={draft} refusals={refused} onChange={setDraft} />
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
