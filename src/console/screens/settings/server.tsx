import {
  type DependencyFragment,
  Server,
  type ServerQuery,
} from '../../../generated/operations/console.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Failed, Skeleton } from '../../parts/state.tsx';
import { RelativeTime } from '../../parts/time.tsx';
import { useServerQuery } from '../../server/operations.ts';
import { lacks, useScope } from '../../server/viewer.ts';
import { CheckList } from './check-list.tsx';
import { DefaultModel } from './model-test.tsx';
import { Section } from './section.tsx';

/** The version of the server, and for operators its dependencies and access settings. */
export function ServerSettings() {
  const isOperator = useScope('OPERATOR');
  const { data, problem, isLoading, retry } = useServerQuery(Server, { isOperator });
  return (
    <Section
      screen="server"
      actions={
        <Button onClick={retry} isBusy={isLoading}>
          Check again
        </Button>
      }
    >
      {problem ? (
        <Failed problem={problem} onRetry={retry} />
      ) : (
        <div className="settings-body" aria-busy={!data}>
          {data ? <State server={data.server} /> : <Skeleton height={200} />}
          {!isOperator && (
            <p className="settings-note">
              {lacks('OPERATOR')} It would show the database, Redis, the model and the allowed
              origins.
            </p>
          )}
        </div>
      )}
    </Section>
  );
}

const RESULTS = {
  OK: { tone: 'good', result: 'passed' },
  WARNING: { tone: 'warn', result: 'warning' },
  FAILED: { tone: 'bad', result: 'failed' },
} as const;

function State({ server }: { server: ServerQuery['server'] }) {
  const { version, startedAt, model, database, redis, checks, allowedOrigins } = server;
  return (
    <>
      <section>
        <h2>This process</h2>
        <Facts>
          <Fact name="Version">{version}</Fact>
          <Fact name="Started">
            <RelativeTime at={startedAt} />
          </Fact>
          {database && (
            <Fact name="Database">
              <Health of={database} />
            </Fact>
          )}
          {redis !== undefined && (
            <Fact name="Redis">
              {redis ? <Health of={redis} /> : 'not used: Parley runs as a single process'}
            </Fact>
          )}
        </Facts>
      </section>
      {checks && (
        <section>
          <h2>Health</h2>
          <CheckList checks={checks.map((check) => ({ ...check, ...RESULTS[check.status] }))} />
          <p className="settings-note">
            <code>parley doctor</code> makes these checks too, before the server starts.
          </p>
        </section>
      )}
      {model && <DefaultModel name={model} />}
      {allowedOrigins && (
        <section>
          <h2>Allowed origins</h2>
          {allowedOrigins.length === 0 ? (
            <p className="soft">
              None: only pages of this server may call GraphQL. Set PARLEY_ALLOWED_ORIGINS to allow
              others.
            </p>
          ) : (
            <ul className="mono">
              {allowedOrigins.map((origin) => (
                <li key={origin}>{origin}</li>
              ))}
            </ul>
          )}
        </section>
      )}
    </>
  );
}

function Health({ of: { name, reachable, latencyMs } }: { of: DependencyFragment }) {
  if (!reachable) return <Badge tone="bad">{name} does not answer</Badge>;
  return (
    <Badge tone="good">
      {name}, answers in {(latencyMs ?? 0).toFixed(1)} ms
    </Badge>
  );
}
