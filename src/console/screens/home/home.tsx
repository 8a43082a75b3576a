import { Link } from 'wouter';
import type { Environment } from '../../../generated/operations/console.ts';
import { gateSentence } from '../../../vocabulary/gates.ts';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { ChannelStates } from '../../deploy/channel-states.tsx';
import { EntranceAddresses } from '../../deploy/entrance-addresses.tsx';
import { KeyName } from '../../deploy/key-name.tsx';
import { versionName } from '../../deploy/version.ts';
import { EvaluationState } from '../../evaluations/evaluation-state.tsx';
import { countsOf, evaluationsAddress } from '../../evaluations/labels.ts';
import { environmentLabel, environmentQuery, useEnvironment } from '../../frame/environments.ts';
import { Screen } from '../../frame/screen.tsx';
import { ButtonLink } from '../../parts/button.tsx';
import { Failed, NoBot, Skeleton } from '../../parts/state.tsx';
import { Status } from '../../parts/status.tsx';
import { RelativeTime } from '../../parts/time.tsx';
import { SCREENS } from '../../screens.ts';
import { useScope } from '../../server/viewer.ts';
import './home.css';
import { Failures, LastDay } from './last-day.tsx';
import { type Failure, type HomeBot, type HomeDeployment, useHome } from './use-home.ts';

/** The home of a bot: what runs, its last 24 hours, what failed, what waits, and where to reach it. */
export default function Home({ botId }: { botId: string }) {
  const { chosen } = useEnvironment();
  const { data, problem, retry, failures } = useHome(botId, chosen);
  const bot = data?.bot;
  return (
    <Screen
      title={SCREENS.home.title}
      name={bot?.name}
      actions={
        <>
          <ButtonLink href={`/bots/${botId}/studio${environmentQuery(chosen)}`} icon="edit">
            Edit
          </ButtonLink>
          <ButtonLink
            href={`/bots/${botId}/playground${environmentQuery(chosen)}`}
            icon="chat"
            look="primary"
          >
            Talk to it
          </ButtonLink>
        </>
      }
    >
      {bot ? (
        <BotHome bot={bot} failures={failures} />
      ) : problem ? (
        <Failed problem={problem} onRetry={retry} />
      ) : data ? (
        <NoBot />
      ) : (
        <div className="home" aria-busy="true">
          <Skeleton height={120} />
          <Skeleton height={96} />
          <Skeleton height={200} />
        </div>
      )}
    </Screen>
  );
}

function BotHome({ bot, failures }: { bot: HomeBot; failures: Failure[] | undefined }) {
  return (
    <div className="home">
      <h2 className="home-name">{bot.name}</h2>
      <div className="home-running">
        <Running bot={bot} environment="PRODUCTION" deployment={bot.production} />
        <Running bot={bot} environment="STAGING" deployment={bot.staging} />
      </div>
      <LastDay bot={bot} />
      <div className="home-columns">
        <Failures bot={bot} failures={failures} />
        <div className="home-column">
          <Waiting bot={bot} />
          <LastEvaluation bot={bot} />
        </div>
      </div>
      <Addresses bot={bot} />
    </div>
  );
}

function Running({
  bot: { id },
  environment,
  deployment,
}: {
  bot: HomeBot;
  environment: Environment;
  deployment: HomeDeployment | null;
}) {
  const place = toLowerCase(environment);
  return (
    <section aria-label={`What runs in ${place}`}>
      <h3>{environmentLabel(environment)}</h3>
      {deployment ? (
        <>
          <p className="home-version">
            <Status
              icon={deployment.status === 'PENDING' ? 'dashed' : 'check'}
              tone={deployment.status === 'PENDING' ? 'live' : 'good'}
            >
              <Link href={`/bots/${id}/deployments/${deployment.id}`}>
                {versionName(deployment)}
              </Link>{' '}
              {deployment.status === 'PENDING' ? 'pending' : 'current'}
            </Status>
            <span className="soft">
              <RelativeTime at={deployment.deployedAt ?? deployment.createdAt} />{' '}
              <KeyName id={deployment.keyId} />
            </span>
          </p>
          {deployment.message && <p>{deployment.message}</p>}
          {deployment.channelStates.length > 0 && (
            <ChannelStates states={deployment.channelStates} />
          )}
        </>
      ) : (
        <p className="soft">
          Nothing runs here yet.{' '}
          <Link href={`/bots/${id}/deployments/new${environmentQuery(environment)}`}>Deploy</Link>
        </p>
      )}
    </section>
  );
}

/** The tool calls that wait for a person. */
function Waiting({ bot: { id, approvalsWaiting } }: { bot: HomeBot }) {
  const mayDecide = useScope('APPROVE');
  const { chosen } = useEnvironment();
  if (!mayDecide || approvalsWaiting === undefined) return null;
  return (
    <section aria-label="Approvals">
      <h3>Approvals</h3>
      {approvalsWaiting === 0 ? (
        <p className="soft home-note">No tool call waits.</p>
      ) : (
        <p className="home-note">
          <Status icon="clock" tone="warn">
            <Link href={`/bots/${id}/approvals${environmentQuery(chosen)}`}>
              {approvalsWaiting === 1
                ? '1 tool call waits'
                : `${approvalsWaiting.toLocaleString('en')} tool calls wait`}
            </Link>
          </Status>
        </p>
      )}
    </section>
  );
}

/** The outcome of the last evaluation, and the gate of production with its last decision, if there are any. */
function LastEvaluation({ bot }: { bot: HomeBot }) {
  const { id, evaluations, gate } = bot;
  const last = evaluations?.edges[0]?.node;
  if (!last && !gate) return null;
  return (
    <section aria-label="Last evaluation">
      <h3>Last evaluation</h3>
      {last && (
        <p className="home-note">
          <EvaluationState evaluation={last} />{' '}
          <Link href={evaluationsAddress(id, last.id)}>{countsOf(last)}</Link>{' '}
          <span className="soft">
            {toLowerCase(last.environment)}, <RelativeTime at={last.createdAt} />
          </span>
        </p>
      )}
      {gate && (
        <p className="home-note">
          <strong>Gate of production:</strong> {gateSentence(gate)} <LastGate bot={bot} />
        </p>
      )}
    </section>
  );
}

/** What the gate decided last, with its evaluation. */
function LastGate({ bot: { id, gated } }: { bot: HomeBot }) {
  const last = gated?.edges.find(({ node }) => node.evaluationId !== null)?.node;
  if (!last?.evaluationId) return <span className="soft">No deploy has reached it yet.</span>;
  const { word, icon, tone } = GATE_RESULTS[last.waitsForGate ? 'PENDING' : last.status];
  return (
    <>
      <Status icon={icon} tone={tone}>
        {versionName(last)} {word}
      </Status>{' '}
      <Link href={evaluationsAddress(id, last.evaluationId)}>Open its evaluation</Link>
    </>
  );
}

/** The decisions of a gate, by the state of the deployment. */
const GATE_RESULTS = {
  PENDING: { word: 'waits for it', icon: 'clock', tone: 'warn' },
  DEPLOYED: { word: 'passed', icon: 'check', tone: 'good' },
  FAILED: { word: 'was held back', icon: 'warning', tone: 'bad' },
} as const;

/** Where clients and people reach the bot. */
function Addresses({ bot: { id, webUrl, chatPage } }: { bot: HomeBot }) {
  const { environment } = useEnvironment();
  const page = webUrl ?? `${location.origin}/chat/${id}`;
  const origin = new URL(page).origin;
  return (
    <section aria-label="Addresses">
      <h3>Addresses to connect</h3>
      <EntranceAddresses botId={id} environment={environment} origin={origin}>
        <div>
          <dt>Chat page for people</dt>
          <dd>
            {chatPage ? (
              <a href={page} target="_blank" rel="noreferrer">
                {page}
              </a>
            ) : (
              <span className="soft">
                {page}, once <code>channel web</code> is deployed to production
              </span>
            )}
          </dd>
        </div>
      </EntranceAddresses>
    </section>
  );
}
