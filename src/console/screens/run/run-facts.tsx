import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { versionName } from '../../deploy/version.ts';
import { count } from '../../numbers.ts';
import { CodeBlock, Id } from '../../parts/copy.tsx';
import { duration, LocalTime, RelativeTime } from '../../parts/time.tsx';
import { CHANNELS, ENTRANCES, KINDS } from '../../runs/labels.ts';
import { sessionsAddress } from '../sessions/place.ts';
import type { ShownRun } from './use-run.ts';
import '../../parts/pairs.css';

/** The properties of a run besides its texts. */
export function RunFacts({ run }: { run: ShownRun }) {
  const { bot, user, environment, deployment, latencyMs, startedAt, finishedAt, createdAt } = run;
  const { trace, metadata, toolsCalled, model } = run;
  const waited = startedAt ? Date.parse(startedAt) - Date.parse(createdAt) : 0;
  const address = deployment && `/bots/${bot.id}/deployments/${deployment.id}`;
  return (
    <>
      <dl className="run-facts">
        <Pair name="Started">
          <LocalTime at={createdAt} />
        </Pair>
        <Pair name="Duration">
          {latencyMs === null ? <span className="soft">not over</span> : duration(latencyMs)}
          {waited >= 1_000 && <span className="soft"> · waited {duration(waited)}</span>}
        </Pair>
        <Pair name="Tokens">
          <Tokens run={run} />
        </Pair>
        <Pair name="Model">{model ?? <span className="soft">none was called</span>}</Pair>
        {run.finishReason && <Pair name="Finish reason">{run.finishReason}</Pair>}
        <Pair name="Bot">
          <Link href={`/bots/${bot.id}/runs`}>{bot.name}</Link>
        </Pair>
        <Pair name="Environment">{toLowerCase(environment)}</Pair>
        <Pair name="Deployment">
          {deployment && address ? (
            <>
              <Link href={address}>{versionName(deployment)}</Link>{' '}
              <span className="soft">{deployment.active ? 'current' : 'superseded'}</span>
            </>
          ) : (
            <span className="soft">none</span>
          )}
        </Pair>
        <Pair name="Channel">
          {CHANNELS[run.channel]}, {KINDS[run.kind]}
        </Pair>
        {run.entrance && <Pair name="Entrance">{ENTRANCES[run.entrance]}</Pair>}
        {user && <User run={run} user={user} />}
      </dl>
      <details className="run-more">
        <summary>More facts</summary>
        <dl className="pairs">
          <Pair name="Run">
            <Id>{run.id}</Id>
          </Pair>
          {deployment && address && (
            <Pair name="Deployment">
              <Deployment botId={bot.id} address={address} deployment={deployment} />
            </Pair>
          )}
          {run.trigger === 'APPROVAL' && (
            <Pair name="Trigger">
              decision on a tool call
              {run.causedById && (
                <>
                  {' · '}
                  <Link href={`/runs/${run.causedById}`}>run that asked</Link>
                </>
              )}
            </Pair>
          )}
          {finishedAt && (
            <Pair name="Finished">
              <LocalTime at={finishedAt} />
            </Pair>
          )}
          {toolsCalled.length > 0 && <Pair name="Tools">{toolsCalled.join(', ')}</Pair>}
          <Pair name="Trace">
            <Id>{trace.traceId}</Id>
          </Pair>
          {metadata !== null && (
            <Pair name="Metadata">
              <CodeBlock label="Metadata">{JSON.stringify(metadata, null, 2)}</CodeBlock>
            </Pair>
          )}
        </dl>
      </details>
    </>
  );
}

function Pair({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The user is the session: a link to the other runs, and one to the conversation with its memory. */
function User({ run, user }: { run: ShownRun; user: string }) {
  const { bot, environment } = run;
  return (
    <Pair name="User, session">
      <Id>{user}</Id>{' '}
      <span className="run-fact-links">
        <Link href={`/bots/${bot.id}/runs?${new URLSearchParams({ user })}`}>all runs</Link>
        {' · '}
        <Link href={sessionsAddress(bot.id, { environment, user })}>session</Link>
      </span>
    </Pair>
  );
}

/** The message of a deployment, its age, and ways to its source. */
function Deployment({
  botId,
  address,
  deployment: { id, message, createdAt, active },
}: {
  botId: string;
  address: string;
  deployment: NonNullable<ShownRun['deployment']>;
}) {
  return (
    <>
      {message && <>{message} · </>}
      <RelativeTime at={createdAt} />
      {' · '}
      <Link href={`${address}?show=source`}>source</Link>
      {!active && (
        <>
          {' · '}
          <Link href={`${address}?show=running`}>difference to the active deployment</Link>
        </>
      )}
      {' · '}
      <Link href={`/bots/${botId}/runs?${new URLSearchParams({ deployment_id: id })}`}>runs</Link>
      <br />
      <Id>{id}</Id>
    </>
  );
}

function Tokens({ run }: { run: ShownRun }) {
  const { promptTokens, completionTokens, tokensEstimated, cachedTokens, reasoningTokens } = run;
  return (
    <span className="number">
      {count(promptTokens)} in{cachedTokens ? ` (${count(cachedTokens)} cached)` : ''} ·{' '}
      {count(completionTokens)} out
      {reasoningTokens ? ` (${count(reasoningTokens)} reasoning)` : ''}
      {tokensEstimated && <span className="faint"> (estimated)</span>}
    </span>
  );
}
