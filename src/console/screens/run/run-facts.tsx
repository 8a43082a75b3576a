import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { versionName } from '../../deploy/version.ts';
import { CodeBlock, Id } from '../../parts/copy.tsx';
import { duration, LocalTime, RelativeTime } from '../../parts/time.tsx';
import { CHANNELS, KINDS } from '../../runs/labels.ts';
import { sessionsAddress } from '../sessions/place.ts';
import type { ShownRun } from './use-run.ts';
import '../../parts/pairs.css';

/** The properties of a run besides its texts. */
export function RunFacts({ run }: { run: ShownRun }) {
  const { bot, user, environment, deployment, latencyMs, startedAt, finishedAt, createdAt } = run;
  const { trace, metadata, toolsCalled, model } = run;
  const waited = startedAt ? Date.parse(startedAt) - Date.parse(createdAt) : 0;
  return (
    <dl className="pairs run-facts">
      <Pair name="Run">
        <Id>{run.id}</Id>
      </Pair>
      <Pair name="Bot">
        <Link href={`/bots/${bot.id}/runs`}>{bot.name}</Link>
      </Pair>
      {user && <User run={run} user={user} />}
      <Pair name="Environment">{toLowerCase(environment)}</Pair>
      <Pair name="Deployment">
        {deployment ? (
          <Deployment botId={bot.id} deployment={deployment} />
        ) : (
          <span className="faint">none</span>
        )}
      </Pair>
      <Pair name="Channel">
        {CHANNELS[run.channel]}, {KINDS[run.kind]}
      </Pair>
      <Pair name="Model">{model ?? <span className="faint">none was called</span>}</Pair>
      <Pair name="Tokens">
        <Tokens run={run} />
      </Pair>
      {run.finishReason && <Pair name="Finish reason">{run.finishReason}</Pair>}
      <Pair name="Latency">
        {latencyMs === null ? <span className="faint">not over</span> : duration(latencyMs)}
        {waited >= 1_000 && <span className="faint"> · waited {duration(waited)}</span>}
      </Pair>
      <Pair name="Created">
        <LocalTime at={createdAt} />
      </Pair>
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
    <>
      <Pair name="User, session">
        <Id>{user}</Id>
      </Pair>
      <Pair name="">
        <Link href={`/bots/${bot.id}/runs?${new URLSearchParams({ user })}`}>all runs</Link>
        {' · '}
        <Link href={sessionsAddress(bot.id, { environment, user })}>session</Link>
      </Pair>
    </>
  );
}

function Deployment({
  botId,
  deployment,
}: {
  botId: string;
  deployment: NonNullable<ShownRun['deployment']>;
}) {
  const { id, message, createdAt, active } = deployment;
  const address = `/bots/${botId}/deployments/${id}`;
  return (
    <>
      <Link href={address}>
        {versionName(deployment)}
        {message && `, ${message}`}
      </Link>
      <span className="faint">
        {' · '}
        <RelativeTime at={createdAt} />
        {active ? ' · still active' : ' · replaced since'}
      </span>
      <br />
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
  const count = (tokens: number) => tokens.toLocaleString('en');
  return (
    <span className="number">
      {count(promptTokens)} in{cachedTokens ? ` (${count(cachedTokens)} cached)` : ''} ·{' '}
      {count(completionTokens)} out
      {reasoningTokens ? ` (${count(reasoningTokens)} reasoning)` : ''}
      {tokensEstimated && <span className="faint"> (estimated)</span>}
    </span>
  );
}
