import type { Environment } from '../../generated/operations/console.ts';
import { toLowerCase } from '../../vocabulary/names.ts';
import { quantity } from '../numbers.ts';
import { Button } from '../parts/button.tsx';
import { Refused } from '../parts/state.tsx';
import { lacks, useScope } from '../server/viewer.ts';
import { type DeploymentChange, effectOf, labelsOf, sourceOf } from './deployment-change.ts';
import type { DeployForm } from './use-deploy-form.ts';
import { versionName } from './version.ts';

/** The effect of a deploy, and the button for it. Warnings of production are confirmed once more. */
export function DeployFoot({
  form,
  change,
  environment,
  botName,
  onCancel,
}: {
  form: DeployForm;
  change: DeploymentChange;
  environment: Environment;
  botName: string;
  onCancel(): void;
}) {
  const { isBusy, isAsked, isConfirming, setConfirming, problem, warnings, submit } = form;
  const { action } = labelsOf(change, environment);
  const unavailable = useWhyNot(form, change, environment);
  const { running } = form.reading;
  if (isConfirming)
    return (
      <div className="deploy-foot">
        <div className="deploy-effect" ref={focus} role="alert" tabIndex={-1}>
          <p>{`The checks have ${quantity(warnings, 'warning')}. ${action} anyway?`}</p>
        </div>
        <Button unavailable={isBusy && UNDER_WAY} onClick={() => setConfirming(false)}>
          Back
        </Button>
        <Button
          look="primary"
          isBusy={isBusy}
          unavailable={unavailable}
          onClick={() => void submit()}
        >
          {`${action} with ${quantity(warnings, 'warning')}`}
        </Button>
      </div>
    );
  return (
    <div className="deploy-foot">
      <div className="deploy-effect">
        <Refused problem={problem} />
        <p className="soft">
          {effectOf(change, {
            environment,
            running: running && versionName(running),
            botName,
            hasGate: form.gate !== undefined && !form.skipsGate,
          })}
        </p>
      </div>
      <Button unavailable={isBusy && UNDER_WAY} onClick={onCancel}>
        Cancel
      </Button>
      <Button
        look="primary"
        isBusy={isBusy}
        unavailable={unavailable}
        onClick={() => (isAsked ? setConfirming(true) : void submit())}
      >
        {action}
        {isAsked && '…'}
      </Button>
    </div>
  );
}

/** The question takes the focus of the button that asked it. */
function focus(text: HTMLElement | null): void {
  text?.focus();
}

const UNDER_WAY = 'The request is under way.';

/** Why nothing can be deployed now. */
function useWhyNot(
  { hasErrors, isSame, gate, skipsGate, message, reading: { running } }: DeployForm,
  change: DeploymentChange,
  environment: Environment,
): string | false | undefined {
  const mayDeploy = useScope('DEPLOY');
  return (
    (!mayDeploy && lacks('DEPLOY')) ||
    (sourceOf(change).trim() === '' && 'There is no definition yet.') ||
    (hasErrors && 'Correct the errors first.') ||
    (gate && skipsGate && message.trim() === '' && 'A deploy without the gate needs a message.') ||
    (isSame &&
      running &&
      `Nothing differs from ${versionName(running)}, which runs in ${toLowerCase(environment)}.`)
  );
}
