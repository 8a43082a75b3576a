import { Link } from 'wouter';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { KeyName } from '../../deploy/key-name.tsx';
import { versionName } from '../../deploy/version.ts';
import { type ComparedFact, FactTable } from '../../diff/fact-table.tsx';
import { TextDiffView } from '../../diff/text-diff-view.tsx';
import { changesBetween } from '../../diff/variables.ts';
import { VariablesDiff } from '../../diff/variables-diff.tsx';
import { Screen } from '../../frame/screen.tsx';
import { ButtonLink } from '../../parts/button.tsx';
import { Failed, Skeleton } from '../../parts/state.tsx';
import { Status } from '../../parts/status.tsx';
import { LocalTime } from '../../parts/time.tsx';
import { SCREENS } from '../../screens.ts';
import { lacks, useScope } from '../../server/viewer.ts';
import { comparisonAddress } from './address.ts';
import { NoDeployment } from './no-deployment.tsx';
import './deployments.css';
import { stateOf } from './state.ts';
import { type ShownDeployment, useDeployment } from './use-deployment.ts';

/** Two deployments of a bot beside each other: their facts, their definitions and their variables. */
export default function DeploymentComparison({
  botId,
  id,
  other,
}: {
  botId: string;
  id: string;
  other: string;
}) {
  return (
    <Screen
      title={SCREENS.deploymentComparison.title}
      actions={
        <>
          <ButtonLink href={comparisonAddress(botId, other, id)}>Swap</ButtonLink>
          <ButtonLink href={`/bots/${botId}/deployments`} look="quiet">
            All deployments
          </ButtonLink>
        </>
      }
    >
      <div className="deployments">
        <ReadBoth botId={botId} id={id} other={other} />
      </div>
    </Screen>
  );
}

function ReadBoth({ botId, id, other }: { botId: string; id: string; other: string }) {
  const first = useDeployment(botId, id);
  const second = useDeployment(botId, other);
  const [one, two] = [first.deployment, second.deployment];
  if (one && two) return <Both one={one} two={two} />;
  const isGone = ({ isMissing, problem }: typeof first) =>
    isMissing || problem?.code === 'DEPLOYMENT_NOT_FOUND';
  if (isGone(first) || isGone(second))
    return (
      <NoDeployment id={isGone(first) ? id : other}>
        <ButtonLink href={`/bots/${botId}/deployments`}>Choose two deployments</ButtonLink>
      </NoDeployment>
    );
  const problem = first.problem ?? second.problem;
  const retry = () => {
    first.retry();
    second.retry();
  };
  return problem ? <Failed problem={problem} onRetry={retry} /> : <Skeleton height={240} />;
}

const FACTS: ComparedFact<ShownDeployment>[] = [
  {
    name: 'State',
    of: ({ status, active }) => [status, active],
    show: ({ status, active }) => {
      const { word, icon, tone } = stateOf(status, active);
      return (
        <Status icon={icon} tone={tone}>
          {word}
        </Status>
      );
    },
  },
  {
    name: 'Environment',
    of: ({ environment }) => environment,
    show: ({ environment }) => toLowerCase(environment),
  },
  {
    name: 'Message',
    of: ({ message }) => message,
    show: ({ message }) => message ?? <span className="faint">none</span>,
  },
  {
    name: 'Rolled back to',
    of: ({ rolledBackTo }) => rolledBackTo?.id,
    show: ({ rolledBackTo }) =>
      rolledBackTo ? versionName(rolledBackTo) : <span className="faint">no rollback</span>,
  },
  { name: 'Deployed', of: ({ keyId }) => keyId, show: ({ keyId }) => <KeyName id={keyId} /> },
];

function Both({ one, two }: { one: ShownDeployment; two: ShownDeployment }) {
  const [before, after] = [versionName(one), versionName(two)];
  const mayTry = useScope('CHAT');
  return (
    <>
      {one.id === two.id && (
        <p className="soft">
          Both are the same deployment.{' '}
          <Link href={`/bots/${one.bot.id}/deployments?compare=${one.id}`}>Choose another one</Link>
        </p>
      )}
      <FactTable
        label="Facts of both deployments"
        facts={FACTS}
        items={[one, two]}
        heads={[<Head key="one" deployment={one} />, <Head key="two" deployment={two} />]}
      />
      {one.source === undefined || two.source === undefined ? (
        <p className="soft">{lacks('DEPLOY')} It is needed to read definitions.</p>
      ) : (
        <TextDiffView
          label="Definition"
          before={one.source}
          after={two.source}
          beforeName={before}
          afterName={after}
        />
      )}
      <VariablesDiff changes={changesBetween(one.envNames, two.envNames, [])} kept="in both" />
      {mayTry && one.id !== two.id && one.status !== 'FAILED' && two.status !== 'FAILED' && (
        <p>
          <Link href={`/bots/${one.bot.id}/playground?compare=true&left=${one.id}&right=${two.id}`}>
            Send a message to both
          </Link>
        </p>
      )}
    </>
  );
}

function Head({ deployment }: { deployment: ShownDeployment }) {
  const { id, bot, createdAt } = deployment;
  return (
    <>
      <Link href={`/bots/${bot.id}/deployments/${id}`}>{versionName(deployment)}</Link>
      <br />
      <LocalTime at={createdAt} />
    </>
  );
}
