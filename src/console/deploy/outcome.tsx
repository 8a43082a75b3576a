import { Link } from 'wouter';
import { DeploymentState } from '../../generated/operations/console.ts';
import { toLowerCase } from '../../vocabulary/names.ts';
import { evaluationsAddress } from '../evaluations/labels.ts';
import { environmentQuery } from '../frame/environments.ts';
import { Badge } from '../parts/badge.tsx';
import { useServerQuery } from '../server/operations.ts';
import { Findings } from './findings.tsx';
import type { DeployOutcome } from './use-deploy.ts';
import { useDeploymentChanges } from './use-deployment-changes.ts';
import type { Finding } from './use-reading.ts';
import { versionName } from './version.ts';

/** The codes of the problems that a gate finds. */
const GATE_CODES: readonly string[] = ['test-failed', 'replay-failed', 'gate-failed'];

/** The outcome of a deploy, with its warnings. A pending deploy is read again until it is decided. */
export function Outcome({
  botId,
  outcome: first,
  isSurprise,
  onGoTo,
}: {
  botId: string;
  outcome: DeployOutcome;
  /** Whether it replaced another deployment than the shown one. */
  isSurprise: boolean;
  onGoTo?: ((finding: Finding) => void) | undefined;
}) {
  const outcome = useOutcome(botId, first);
  const { id, status, environment, channels, diagnostics, previous, evaluationId } = outcome;
  const name = versionName(outcome);
  const place = toLowerCase(environment);
  const query = environmentQuery(environment);
  const isHeld = diagnostics.some(({ code }) => GATE_CODES.includes(code));
  return (
    <section className={`outcome outcome-${status.toLowerCase()}`} aria-label="Outcome">
      <div role="status">
        <p className="outcome-word">
          {status === 'DEPLOYED' && <Badge tone="good">{`${name} was deployed to ${place}`}</Badge>}
          {status === 'PENDING' && (
            <Badge tone="live">
              {outcome.waitsForGate
                ? `${name} waits for the gate of ${place}, which is unchanged until then`
                : `${name} is pending in ${place}: a channel is being connected`}
            </Badge>
          )}
          {status === 'FAILED' && (
            <Badge tone="bad">
              {isHeld
                ? `The gate held ${name} back, and ${place} is unchanged`
                : `${name} failed, and ${place} is unchanged`}
            </Badge>
          )}
        </p>
        {isSurprise && status !== 'FAILED' && previous && (
          <p>
            It replaced {versionName(previous)}, which was deployed elsewhere after you looked at
            the difference.
          </p>
        )}
        {status === 'DEPLOYED' && channels.length > 0 && (
          <p className="soft">Channels: {channels.join(', ').toLowerCase()}</p>
        )}
      </div>
      <Findings findings={diagnostics} label="Problems of the deployment" onGoTo={onGoTo} />
      <p className="outcome-links">
        <Link href={`/bots/${botId}/deployments/${id}`}>Open the deployment</Link>
        {evaluationId && (
          <Link href={evaluationsAddress(botId, evaluationId)}>Open its evaluation</Link>
        )}
        {status !== 'FAILED' && !outcome.waitsForGate && (
          <Link href={`/bots/${botId}/playground${query}`}>Talk to it in the playground</Link>
        )}
      </p>
    </section>
  );
}

function useOutcome(botId: string, first: DeployOutcome): DeployOutcome {
  const isPending = first.status === 'PENDING';
  const { data, retry } = useServerQuery(DeploymentState, { id: first.id }, { pause: !isPending });
  useDeploymentChanges({ botId }, () => {
    if (isPending) retry();
  });
  const read = data?.node?.__typename === 'Deployment' ? data.node : undefined;
  return read?.id === first.id ? read : first;
}
