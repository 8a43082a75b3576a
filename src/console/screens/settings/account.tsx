import { Usage } from '../../../generated/operations/console.ts';
import { Id } from '../../parts/copy.tsx';
import { Fact, Facts } from '../../parts/facts.tsx';
import { Refused, Skeleton } from '../../parts/state.tsx';
import { RelativeTime } from '../../parts/time.tsx';
import { useServerQuery } from '../../server/operations.ts';
import { planName, scopeSentence } from '../../server/plans.ts';
import { useViewer } from '../../server/viewer.ts';
import { PlanMeters } from './plan-meters.tsx';
import { Section } from './section.tsx';

/** The signed-in account with its limits, and the key of this session. */
export function AccountSettings() {
  const { account, apiKey } = useViewer();
  const { data, problem, retry } = useServerQuery(Usage, { ofRuns: false, byKey: false });
  return (
    <Section screen="account">
      <div className="settings-body">
        <section>
          <h2>{account.name}</h2>
          <Facts>
            <Fact name="Id">
              <Id>{account.id}</Id>
            </Fact>
            <Fact name="Plan">{planName(account.plan)}</Fact>
          </Facts>
          <div className="settings-meters">
            {data ? (
              <PlanMeters limits={data.viewer} onReset={retry} />
            ) : problem ? (
              <Refused problem={problem} />
            ) : (
              <Skeleton height={96} />
            )}
          </div>
          <p className="settings-note">
            The operator of this server changes the name, the plan and the limits.
          </p>
        </section>
        <section>
          <h2>Key of this session</h2>
          <Facts>
            <Fact name="Name">{apiKey.name}</Fact>
            <Fact name="Begins with">
              <span className="mono">{apiKey.prefix}…</span>
            </Fact>
            <Fact name="Scopes">{scopeSentence(apiKey.scopes)}</Fact>
            <Fact name="Bots">{botsOf(apiKey.bots)}</Fact>
            <Fact name="Expires">
              {apiKey.expiresAt ? <RelativeTime at={apiKey.expiresAt} /> : 'never'}
            </Fact>
          </Facts>
          <p className="settings-note">
            A session ends 12 hours after its last use, after 7 days at the latest, and with its
            key.
          </p>
        </section>
      </div>
    </Section>
  );
}

function botsOf(bots: { id: string }[] | null): string {
  return bots === null ? 'every bot of the account' : bots.map(({ id }) => id).join(', ') || 'none';
}
