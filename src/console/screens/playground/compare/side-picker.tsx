import { Deployments } from '../../../../generated/operations/console.ts';
import { toLowerCase } from '../../../../vocabulary/names.ts';
import { versionName } from '../../../deploy/version.ts';
import { ENVIRONMENT_OPTIONS } from '../../../frame/environments.ts';
import { useServerQuery } from '../../../server/operations.ts';
import { useScope } from '../../../server/viewer.ts';
import { choiceOf, nameOf, type SideChoice } from '../sides.ts';

/** Deployments to choose from. Others have an address. */
const MOST = 30;

/** Characters of a message that tell a deployment from the others. */
const MAX_MESSAGE = 40;

/** Chooses what answers on a side. */
export function SidePicker({
  botId,
  label,
  current,
  other,
  onChange,
}: {
  botId: string;
  label: string;
  current: SideChoice;
  /** The choice of the other side, which cannot be chosen here too. */
  other: SideChoice;
  onChange(choice: SideChoice): void;
}) {
  const mayDeploy = useScope('DEPLOY');
  const { data } = useServerQuery(Deployments, { botId, first: MOST }, { pause: !mayDeploy });
  const deployments = (data?.bot?.deployments.edges ?? [])
    .map(({ node }) => node)
    .filter(({ status }) => status !== 'FAILED');
  const name = nameOf(current);
  const isListed = current.kind !== 'deployment' || deployments.some(({ id }) => id === name);
  const isTaken = (choice: string) => choice === nameOf(other);
  return (
    <select
      className="input select compare-select"
      aria-label={label}
      value={name}
      onChange={({ target }) => {
        const choice = choiceOf(target.value);
        if (choice) onChange(choice);
      }}
    >
      {ENVIRONMENT_OPTIONS.map(({ name: environment, label: text }) => (
        <option
          key={environment}
          value={toLowerCase(environment)}
          disabled={isTaken(toLowerCase(environment))}
        >
          {text}
        </option>
      ))}
      <optgroup label="Text of the Studio">
        <option value="draft" disabled={!mayDeploy || isTaken('draft')}>
          Draft of production
        </option>
        <option value="staging-draft" disabled={!mayDeploy || isTaken('staging-draft')}>
          Draft of staging
        </option>
      </optgroup>
      {(deployments.length > 0 || !isListed) && (
        <optgroup label="Deployments">
          {deployments.map((deployment) => (
            <option key={deployment.id} value={deployment.id} disabled={isTaken(deployment.id)}>
              {[
                versionName(deployment),
                toLowerCase(deployment.environment),
                deployment.message?.slice(0, MAX_MESSAGE),
              ]
                .filter(Boolean)
                .join(' · ')}
            </option>
          ))}
          {!isListed && <option value={name}>Deployment …{name.slice(-6)}</option>}
        </optgroup>
      )}
    </select>
  );
}
