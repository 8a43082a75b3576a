import { useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { ChannelStates } from '../../deploy/channel-states.tsx';
import { DeployDialog } from '../../deploy/deploy-dialog.tsx';
import { Findings } from '../../deploy/findings.tsx';
import { RunningVersion } from '../../deploy/running-version.tsx';
import { type RunningReading, useRunning } from '../../deploy/use-running.ts';
import { versionName } from '../../deploy/version.ts';
import { TextDiffView } from '../../diff/text-diff-view.tsx';
import { changesBetween } from '../../diff/variables.ts';
import { VariablesDiff } from '../../diff/variables-diff.tsx';
import { environmentQuery, useEnvironment } from '../../frame/environments.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock, Id } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { Segments } from '../../parts/segments.tsx';
import { LocalTime } from '../../parts/time.tsx';
import { lacks, useScope } from '../../server/viewer.ts';
import { comparisonAddress } from './address.ts';
import { withParameters } from './filter.ts';
import type { ShownDeployment } from './use-deployment.ts';
import '../../parts/pairs.css';

type Shown = 'previous' | 'running' | 'source';

/** The changes of a deployment, its difference to the active one, its source and its actions. */
export function Details({ deployment }: { deployment: ShownDeployment }) {
  const { bot, environment, previous, diagnostics } = deployment;
  const [search, setSearch] = useSearchParams();
  const reading = useRunning(bot.id, environment);
  const asked = search.get('show');
  const shown: Shown = asked === 'running' || asked === 'source' ? asked : 'previous';
  const options: { name: Shown; label: string }[] = [
    { name: 'previous', label: previous ? `Changes since ${versionName(previous)}` : 'Changes' },
    { name: 'running', label: 'Difference to the active deployment' },
    { name: 'source', label: 'Source' },
  ];
  return (
    <>
      {reading.isReplaced && <RunningVersion reading={reading} place={toLowerCase(environment)} />}
      <Findings findings={diagnostics} />
      <div className="entry-bar">
        <Segments
          label="Show"
          options={options}
          current={shown}
          onChange={(name) =>
            setSearch(
              (before) => withParameters(before, { show: name === 'previous' ? '' : name }),
              { replace: true },
            )
          }
        />
        <Actions deployment={deployment} running={reading.running} />
      </div>
      <Content deployment={deployment} shown={shown} reading={reading} />
      <DeploymentFacts deployment={deployment} />
    </>
  );
}

function Content({
  deployment,
  shown,
  reading: { bot, running },
}: {
  deployment: ShownDeployment;
  shown: Shown;
  reading: RunningReading;
}) {
  const { source, previous, envNames, sentEnvNames, rolledBackTo, status } = deployment;
  if (source === undefined)
    return <p className="soft">{lacks('DEPLOY')} It is needed to read definitions.</p>;
  const name = versionName(deployment);
  if (shown === 'source') return <CodeBlock label={`Source of ${name}`}>{source}</CodeBlock>;
  if (shown === 'previous')
    return (
      <>
        <TextDiffView
          label="Definition"
          before={previous?.source}
          after={source}
          beforeName={previous ? versionName(previous) : undefined}
          afterName={name}
        />
        {status !== 'FAILED' && (
          <VariablesDiff
            changes={changesBetween(previous?.envNames ?? [], envNames, sentEnvNames)}
            {...(rolledBackTo && { kept: `as in ${versionName(rolledBackTo)}` })}
          />
        )}
      </>
    );
  if (!bot) return null;
  if (running?.id === deployment.id)
    return <p className="soft">{name} is the active deployment.</p>;
  if (!running) return <p className="soft">There is no active deployment to compare with.</p>;
  return (
    <>
      <TextDiffView
        label="Definition"
        before={source}
        after={running.source ?? ''}
        beforeName={name}
        afterName={`${versionName(running)}, active`}
      />
      {status !== 'FAILED' && (
        <VariablesDiff changes={changesBetween(envNames, running.envNames, [])} kept="in both" />
      )}
    </>
  );
}

function Actions({
  deployment,
  running,
}: {
  deployment: ShownDeployment;
  running: RunningReading['running'];
}) {
  const { id, bot, environment, status, active, previous } = deployment;
  const [, navigate] = useLocation();
  const [opened, setOpened] = useState<'rollback' | 'promote'>();
  const { chosen } = useEnvironment();
  const mayDeploy = useScope('DEPLOY');
  const unavailable =
    (!mayDeploy && lacks('DEPLOY')) ||
    (status === 'FAILED' && 'A failed deployment cannot run.') ||
    (status === 'PENDING' && 'It is pending.');
  return (
    <div className="entry-actions">
      {environment === 'STAGING' && (
        <Button unavailable={unavailable} onClick={() => setOpened('promote')}>
          Promote to production…
        </Button>
      )}
      <Button
        unavailable={unavailable || (active && 'It is active.')}
        onClick={() => setOpened('rollback')}
      >
        Roll back to this…
      </Button>
      <Menu label="Compare" button={<Icon name="dots" />}>
        {running && running.id !== id && (
          <MenuItem onSelect={() => navigate(comparisonAddress(bot.id, id, running.id))}>
            Compare with {versionName(running)}, active in {toLowerCase(environment)}
          </MenuItem>
        )}
        {previous && (
          <MenuItem onSelect={() => navigate(comparisonAddress(bot.id, previous.id, id))}>
            Compare with {versionName(previous)}, the one before
          </MenuItem>
        )}
        <MenuItem onSelect={() => navigate(`/bots/${bot.id}/deployments?compare=${id}`)}>
          Compare with…
        </MenuItem>
      </Menu>
      {(['promote', 'rollback'] as const).map((kind) => {
        const target = kind === 'promote' ? 'PRODUCTION' : environment;
        return (
          <DeployDialog
            key={kind}
            botId={bot.id}
            change={{ kind, deployment }}
            environment={target}
            isOpen={opened === kind}
            onClose={(outcome) => {
              setOpened(undefined);
              // The environment stays chosen where it lists the new deployment.
              const list = environmentQuery(chosen && target);
              if (outcome) navigate(`/bots/${bot.id}/deployments/${outcome.id}${list}`);
            }}
          />
        );
      })}
    </div>
  );
}

function DeploymentFacts({ deployment }: { deployment: ShownDeployment }) {
  const { id, bot, createdAt, endedAt, channelStates, status, active } = deployment;
  return (
    <dl className="pairs entry-facts">
      <div>
        <dt>Deployment</dt>
        <dd>
          <Id>{id}</Id>
        </dd>
      </div>
      <div>
        <dt>Began</dt>
        <dd>
          <LocalTime at={createdAt} />
        </dd>
      </div>
      <div>
        <dt>Ended</dt>
        <dd>{endedAt ? <LocalTime at={endedAt} /> : <span className="faint">not yet</span>}</dd>
      </div>
      {status !== 'FAILED' && (
        <>
          <div>
            <dt>Channels</dt>
            <dd>
              {active && channelStates.length > 0 ? (
                <ChannelStates states={channelStates} />
              ) : (
                <span className="faint">none connected</span>
              )}
            </dd>
          </div>
          <div>
            <dt>Runs</dt>
            <dd>
              <Link href={`/bots/${bot.id}/runs?deployment_id=${id}`}>that it answered</Link>
            </dd>
          </div>
        </>
      )}
    </dl>
  );
}
