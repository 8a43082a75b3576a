import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { Environment } from '../../../generated/operations/console.ts';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { Findings } from '../../deploy/findings.tsx';
import { type DeployOutcome, useDeploy } from '../../deploy/use-deploy.ts';
import { useReading } from '../../deploy/use-reading.ts';
import { useRunning } from '../../deploy/use-running.ts';
import { changesIn, NO_VARIABLES, variableFields } from '../../deploy/variable-draft.ts';
import { VariableFields } from '../../deploy/variable-fields.tsx';
import { keepText, newestText } from '../../drafts/stored-text.ts';
import { ENVIRONMENT_OPTIONS, environmentQuery } from '../../frame/environments.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Refused } from '../../parts/state.tsx';
import { toast } from '../../parts/toast.tsx';
import { lacks, useScope, useViewer } from '../../server/viewer.ts';
import { EXAMPLES } from './examples.ts';

/** Deploys a definition: an example, or a pasted one. It is read at each change, and the Studio opens it as it is. */
export function DeployStep({
  botId,
  environment,
  onEnvironment,
  onDeployed,
}: {
  botId: string;
  environment: Environment;
  onEnvironment(environment: Environment): void;
  onDeployed(): void;
}) {
  const accountId = useViewer().account.id;
  const placeName = toLowerCase(environment);
  const place = useMemo(() => ({ accountId, botId, environment }), [accountId, botId, environment]);
  const { running } = useRunning(botId, environment);
  const [typed, setTyped] = useState<string>();
  // Like the Studio, it begins with the text that this browser keeps, or with what runs.
  const kept = useMemo(() => newestText(place), [place]);
  const source = typed ?? kept ?? running?.source ?? EXAMPLES[0]?.source ?? '';
  const [draft, setDraft] = useState(NO_VARIABLES);
  const [refused, setRefused] = useState<DeployOutcome['diagnostics']>([]);
  const { envNames, diagnose } = useReading(source);
  const findings = diagnose();
  const fields = variableFields(envNames, running?.envNames ?? [], draft);
  const mayDeploy = useScope('DEPLOY');
  const { isBusy, problem, deploy } = useDeploy(botId);
  const hasErrors = findings.some(({ severity }) => severity === 'ERROR');
  const submit = async () => {
    const { set, unset } = changesIn(fields);
    const outcome = await deploy({
      source,
      environment,
      envVars: set.map((name) => ({ name, value: draft.values[name] ?? '' })),
      unsetEnvVars: unset,
    });
    if (!outcome) return;
    const { status, diagnostics } = outcome;
    setRefused(status === 'FAILED' ? diagnostics : []);
    if (status === 'FAILED') return;
    toast(`Deployed to ${placeName}.`);
    onDeployed();
  };
  const change = (text: string) => {
    setTyped(text);
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
      <p className="soft">
        An agent has a prompt and, if it needs to act, tools. The tutorial shows{' '}
        <Link href="/guide/tutorial#5-an-http-tool">how to add a tool</Link>.
      </p>
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
      <Segments
        label="Environment"
        options={ENVIRONMENT_OPTIONS}
        current={environment}
        onChange={(name) => {
          setRefused([]);
          onEnvironment(name);
        }}
      />
      <p className="soft">
        {environment === 'PRODUCTION'
          ? 'Your users talk to production. Deploy to staging to try a definition first.'
          : 'Only requests that name staging reach it. Promote it to production later.'}
      </p>
      <div className="step-actions">
        <Button
          type="submit"
          look="primary"
          isBusy={isBusy}
          unavailable={
            (!mayDeploy && lacks('DEPLOY')) || (hasErrors && 'Correct the errors first.')
          }
        >
          Deploy to {placeName}
        </Button>
        <ButtonLink
          href={`/bots/${botId}/studio${environmentQuery(environment)}`}
          icon="edit"
          onClick={() => {
            if (typed !== undefined) keepText(place, { text: typed, baseId: running?.id ?? null });
          }}
        >
          Edit in the Studio
        </ButtonLink>
      </div>
    </form>
  );
}
