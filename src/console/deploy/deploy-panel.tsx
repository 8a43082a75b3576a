import type { Environment } from '../../generated/operations/console.ts';
import { toLowerCase } from '../../vocabulary/names.ts';
import { TextDiffView } from '../diff/text-diff-view.tsx';
import { plannedChanges } from '../diff/variables.ts';
import { ENVIRONMENT_OPTIONS } from '../frame/environments.ts';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/field.tsx';
import { Segments } from '../parts/segments.tsx';
import { Failed, Refused, Skeleton } from '../parts/state.tsx';
import { detailFor } from '../server/problem.ts';
import { lacks, useScope } from '../server/viewer.ts';
import './deploy.css';
import { DeployConfirmation } from './deploy-confirmation.tsx';
import { Findings } from './findings.tsx';
import { Outcome } from './outcome.tsx';
import { RunningVersion } from './running-version.tsx';
import type { DeployOutcome } from './use-deploy.ts';
import { useDeployForm } from './use-deploy-form.ts';
import type { Finding } from './use-reading.ts';
import { VariableFields } from './variable-fields.tsx';
import { versionName } from './version.ts';

export type DeployPanelProps = {
  botId: string;
  /** The definition as it is typed. The server checks it at each pause. */
  source: string;
  environment: Environment;
  onEnvironment(environment: Environment): void;
  /** Whether the panel shows. A hidden one keeps its input, and checks nothing. */
  isShown?: boolean | undefined;
  /** Called after a deploy that did not fail. The panel shows the outcome by itself. */
  onDeployed?: ((outcome: DeployOutcome) => void) | undefined;
  /** Goes to a position of the definition. Without it, the positions of problems are text. */
  onGoTo?: ((finding: Finding) => void) | undefined;
};

/**
 * Deploys a definition: the difference to the active deployment, problems, variables, a note, a confirmation, and the outcome.
 * The input stays until a deploy succeeds. Variables belong to one environment, the message to both.
 */
export function DeployPanel(props: DeployPanelProps) {
  const { botId, source, environment, onEnvironment, isShown = true, onGoTo } = props;
  const form = useDeployForm(props);
  const { reading, result } = form;
  const { bot, problem, retry } = reading;
  const place = toLowerCase(environment);
  if (!isShown) return null;
  return (
    <section className="deploy" aria-label="Deploy" aria-busy={form.isChecking}>
      <div className="deploy-head">
        <Segments
          label="Environment"
          options={ENVIRONMENT_OPTIONS}
          current={environment}
          onChange={onEnvironment}
        />
        {bot && <RunningVersion reading={reading} place={place} />}
      </div>
      {result && (
        <Outcome
          key={result.outcome.id}
          botId={botId}
          outcome={result.outcome}
          isSurprise={result.isSurprise}
          onGoTo={onGoTo}
        />
      )}
      {!bot && problem && <Failed problem={problem} onRetry={retry} />}
      {!bot && !problem && <Skeleton height={160} />}
      {bot && <Changes form={form} onGoTo={onGoTo} />}
      {bot && <Request form={form} place={place} isEmpty={source.trim() === ''} />}
      {bot && form.isConfirming && (
        <DeployConfirmation
          botName={bot.name}
          place={place}
          source={source}
          reading={reading}
          changes={plannedChanges(form.before, form.changes)}
          warnings={form.findings}
          isBusy={form.isBusy}
          problem={form.problem}
          onConfirm={() => void form.submit()}
          onCancel={() => form.setConfirming(false)}
        />
      )}
    </section>
  );
}

type Form = ReturnType<typeof useDeployForm>;

/** The changes of the definition, and its problems. */
function Changes({
  form: { reading, shown, findings, checkProblem },
  onGoTo,
}: {
  form: Form;
  onGoTo: DeployPanelProps['onGoTo'];
}) {
  const mayRead = useScope('DEPLOY');
  const { running } = reading;
  return (
    <>
      {mayRead ? (
        <TextDiffView
          label="Definition"
          before={running?.source}
          after={shown}
          beforeName={running && `${versionName(running)}, active`}
          afterName="this definition"
        />
      ) : (
        <p className="soft">The difference to the active deployment needs the scope deploy.</p>
      )}
      <Refused problem={checkProblem} />
      <Findings findings={findings} onGoTo={onGoTo} />
    </>
  );
}

/** The inputs besides the definition, and the button that asks for confirmation. */
function Request({ form, place, isEmpty }: { form: Form; place: string; isEmpty: boolean }) {
  const { fields, draft, setDraft, message, setMessage, findings, hasErrors } = form;
  const { isBusy, isConfirming, setConfirming, problem, isSame, reading, submit } = form;
  const { running } = reading;
  const isAsked = place === 'production';
  const mayDeploy = useScope('DEPLOY');
  return (
    <>
      {fields.length > 0 && (
        // The browser's undo must not bring a value back from the other environment.
        <fieldset key={place} className="variables">
          <legend>Variables</legend>
          <VariableFields fields={fields} draft={draft} refusals={findings} onChange={setDraft} />
        </fieldset>
      )}
      <TextField
        label="Message"
        placeholder="What changed, and why"
        maxLength={1_000}
        value={message}
        error={detailFor(problem, 'input.message')}
        hint="The list of deployments shows it."
        onChange={({ target }) => setMessage(target.value)}
      />
      {!isConfirming && <Refused problem={problem} />}
      <div className="deploy-actions">
        <Button
          look="primary"
          isBusy={isBusy}
          unavailable={
            (!mayDeploy && lacks('DEPLOY')) ||
            (isEmpty && 'There is no definition yet.') ||
            (hasErrors && 'Correct the errors first.') ||
            (isSame &&
              running &&
              `Nothing differs from ${versionName(running)}, which runs in ${place}.`)
          }
          // The panel already shows what changes. Only production is worth another question.
          onClick={() => (isAsked ? setConfirming(true) : void submit())}
        >
          Deploy to {place}
          {isAsked && '…'}
        </Button>
      </div>
    </>
  );
}
