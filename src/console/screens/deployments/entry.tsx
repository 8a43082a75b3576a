import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { KeyName } from '../../deploy/key-name.tsx';
import { versionName } from '../../deploy/version.ts';
import { Icon } from '../../parts/icon.tsx';
import { Failed, Skeleton } from '../../parts/state.tsx';
import { Status } from '../../parts/status.tsx';
import { RelativeTime } from '../../parts/time.tsx';
import { Details } from './details.tsx';
import { NoDeployment } from './no-deployment.tsx';
import { stateOf } from './state.ts';
import { useDeployment } from './use-deployment.ts';
import type { ListedDeployment } from './use-deployments.ts';

/** Why a deployment failed: its first error, with the number of others. */
function reasonOf({ status, diagnostics }: ListedDeployment): string | undefined {
  if (status !== 'FAILED') return undefined;
  const errors = diagnostics.filter(({ severity }) => severity === 'ERROR');
  const [first] = errors;
  if (!first) return undefined;
  const others = errors.length > 1 ? `, and ${errors.length - 1} more` : '';
  return `${first.message}${others}`;
}

/** A deployment in the timeline. It opens in its place, and the address names it. */
export function Entry({
  botId,
  deployment,
  isRunning,
  isOpen,
  restoredBy,
  selection,
}: {
  botId: string;
  deployment: ListedDeployment;
  isRunning: boolean;
  isOpen: boolean;
  /** The latest rollback to this deployment. */
  restoredBy?: ListedDeployment | undefined;
  /** Selects the deployment for a comparison. */
  selection?: { isSelected: boolean; toggle(): void };
}) {
  const [, navigate] = useLocation();
  const { id, environment, status, message, createdAt, keyId, rolledBackTo } = deployment;
  const state = stateOf(status, isRunning);
  const reason = reasonOf(deployment);
  const address = `/bots/${botId}/deployments`;
  const row = useRef<HTMLLIElement>(null);
  // An address that names a deployment shows it, also if it is far down.
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (wasOpen.current) row.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const toggle = () => {
    const { search } = window.location;
    const kept = new URLSearchParams(search);
    for (const name of ['show', 'diff']) if (isOpen) kept.delete(name);
    const query = kept.size > 0 ? `?${kept}` : '';
    navigate(`${isOpen ? address : `${address}/${id}`}${query}`);
  };
  return (
    <li ref={row} className={selection ? 'entry entry-selectable' : 'entry'}>
      {selection && (
        <label className="entry-select">
          <input
            type="checkbox"
            aria-label={`Compare ${versionName(deployment)}`}
            checked={selection.isSelected}
            onChange={selection.toggle}
          />
        </label>
      )}
      <button type="button" className="entry-head" aria-expanded={isOpen} onClick={toggle}>
        <span className="entry-version number">{versionName(deployment)}</span>
        <span className="entry-state">
          <Status icon={state.icon} tone={state.tone}>
            {state.word}
          </Status>
        </span>
        <span className="entry-text">
          <span className="entry-message cut">
            {message ??
              (rolledBackTo ? (
                `Rollback to ${versionName(rolledBackTo)}`
              ) : (
                <span className="faint">no message</span>
              ))}
          </span>
          {reason && <span className="entry-reason cut">{reason}</span>}
          <span className="entry-by faint cut">
            {rolledBackTo && message && `rollback to ${versionName(rolledBackTo)} · `}
            {restoredBy && `rolled back to by ${versionName(restoredBy)} · `}
            <KeyName id={keyId} />
          </span>
        </span>
        <span className="entry-place">
          <span className={isRunning ? 'chip entry-runs' : 'chip'}>{toLowerCase(environment)}</span>
        </span>
        <span className="entry-time faint">
          <RelativeTime at={createdAt} />
        </span>
        <Icon name="chevron" />
      </button>
      {isOpen && <ReadDetails botId={botId} id={id} />}
    </li>
  );
}

/** The deployment of the address if the list does not show it: it is further down, or a filter hides it. */
export function OpenedEntry({ botId, id }: { botId: string; id: string }) {
  const { deployment, isMissing, problem, retry } = useDeployment(botId, id);
  if (deployment)
    return (
      <ol className="timeline" aria-label="Deployment of the address">
        <Entry botId={botId} deployment={deployment} isRunning={deployment.active} isOpen />
      </ol>
    );
  if (isMissing || problem?.code === 'DEPLOYMENT_NOT_FOUND') return <NoDeployment id={id} />;
  if (problem) return <Failed problem={problem} onRetry={retry} />;
  return <Skeleton height={120} />;
}

function ReadDetails({ botId, id }: { botId: string; id: string }) {
  const { deployment, isMissing, problem, retry } = useDeployment(botId, id);
  return (
    <div className="entry-details">
      {deployment ? (
        <Details deployment={deployment} />
      ) : isMissing ? (
        <p className="soft">This deployment was deleted.</p>
      ) : problem ? (
        <Failed problem={problem} onRetry={retry} />
      ) : (
        <Skeleton height={160} />
      )}
    </div>
  );
}
