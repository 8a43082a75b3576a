import { useEffect, useRef, useState } from 'react';
import type { Environment } from '../../generated/operations/console.ts';
import { toLowerCase } from '../../vocabulary/names.ts';
import { ENVIRONMENT_OPTIONS } from '../frame/environments.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Segments } from '../parts/segments.tsx';
import { Failed, Skeleton } from '../parts/state.tsx';
import './deploy.css';
import { DeployFoot } from './deploy-foot.tsx';
import { DeploySteps } from './deploy-steps.tsx';
import { type DeploymentChange, labelsOf } from './deployment-change.ts';
import { Outcome } from './outcome.tsx';
import { RunningVersion } from './running-version.tsx';
import type { DeployOutcome } from './use-deploy.ts';
import { useDeployForm } from './use-deploy-form.ts';
import type { Finding } from './use-reading.ts';

type DeployDialogProps = {
  botId: string;
  change: DeploymentChange;
  environment: Environment;
  /** Selects another environment. Absent if the change has only this one. */
  onEnvironment?: ((environment: Environment) => void) | undefined;
  isOpen: boolean;
  /** @param outcome of the deploy, if it did not fail. */
  onClose(outcome?: DeployOutcome): void;
  /** Goes to a position of the definition, and closes the dialog. Without it, positions are text. */
  onGoTo?: ((finding: Finding) => void) | undefined;
};

/**
 * Deploys, promotes or rolls back: variables, changes, checks, a message, one confirmation, and the outcome. A closed dialog
 * keeps its input until a deploy succeeds.
 */
export function DeployDialog(props: DeployDialogProps) {
  const [wasOpen, setWasOpen] = useState(false);
  if (props.isOpen && !wasOpen) setWasOpen(true);
  return wasOpen ? <KeptDialog {...props} /> : null;
}

function KeptDialog({
  botId,
  change,
  environment,
  onEnvironment,
  isOpen,
  onClose,
  onGoTo,
}: DeployDialogProps) {
  const form = useDeployForm({ botId, change, environment, isShown: isOpen });
  const { reading, result, isBusy } = form;
  const { bot, problem, retry } = reading;
  const place = toLowerCase(environment);
  const done = result && result.outcome.status !== 'FAILED' ? result.outcome : undefined;
  const body = useFocusOnField(isOpen, bot !== undefined && form.isChecked && !done);
  const close = () => {
    form.forgetResult();
    onClose(done);
  };
  if (!isOpen) return null;
  return (
    <Dialog title={labelsOf(change, environment).title} isWide onClose={isBusy ? undefined : close}>
      <section ref={body} className="deploy" aria-label="Deploy" aria-busy={form.isChecking}>
        {!done && onEnvironment && (
          <Segments
            label="Environment"
            options={ENVIRONMENT_OPTIONS}
            current={environment}
            onChange={onEnvironment}
          />
        )}
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
        {!bot && !problem && <Skeleton height={240} />}
        {bot && !done && (
          <>
            <RunningVersion reading={reading} place={place} isBusy={isBusy} />
            <DeploySteps form={form} change={change} environment={environment} onGoTo={onGoTo} />
            <DeployFoot
              form={form}
              change={change}
              environment={environment}
              botName={bot.name}
              onCancel={close}
            />
          </>
        )}
        {done && (
          <div className="actions">
            <Button look="primary" ref={focus} onClick={close}>
              Close
            </Button>
          </div>
        )}
      </section>
    </Dialog>
  );
}

/** The button that closes takes the focus of the one that deployed. */
function focus(button: HTMLElement | null): void {
  button?.focus();
}

/** The first field gets the focus once the check has named the variables, unless a person types already. */
function useFocusOnField(isOpen: boolean, isReady: boolean) {
  const body = useRef<HTMLElement>(null);
  const isDone = useRef(false);
  useEffect(() => {
    if (!isOpen) isDone.current = false;
    if (!isOpen || !isReady || isDone.current) return;
    isDone.current = true;
    const typed = body.current?.querySelector<HTMLInputElement>('input:focus')?.value;
    if (!typed) body.current?.querySelector<HTMLElement>('input')?.focus();
  }, [isOpen, isReady]);
  return body;
}
