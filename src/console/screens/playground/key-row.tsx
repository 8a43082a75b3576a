import { useEffect, useState } from 'react';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { isEnter } from '../../parts/is-enter.ts';
import { Refused } from '../../parts/state.tsx';
import { ShortTime } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import { useNow } from '../../parts/use-now.ts';
import { serverNow } from '../../server/clock.ts';
import { KEY_LIFETIME_MS } from '../../server/hour-key.ts';
import type { Problem } from '../../server/problem.ts';
import {
  createRestKey,
  dropRestKey,
  forgetRestKey,
  holdTypedKey,
  maskedKey,
  type RestKey,
  useRestKey,
} from '../../server/rest-key.ts';
import { lacks, useViewer } from '../../server/viewer.ts';

/** The API key that REST requests are sent with: typed, or created for an hour. */
export function KeyRow({ botId }: { botId: string }) {
  const held = useRestKey(botId);
  return held ? <HeldKey held={held} /> : <NoKey botId={botId} />;
}

function HeldKey({ held }: { held: RestKey }) {
  const { secret, created } = held;
  const expiresAt = created?.expiresAt;
  useEffect(() => {
    if (!expiresAt) return undefined;
    const timer = setTimeout(() => dropRestKey(held), Date.parse(expiresAt) - serverNow());
    return () => clearTimeout(timer);
  }, [held, expiresAt]);
  const forget = async () => {
    const problem = await forgetRestKey(held);
    if (problem) toast(`The key was not revoked: ${problem.message}`);
    else toast(expiresAt ? 'Revoked the key.' : 'Forgot the key.');
  };
  return (
    <div className="key-row">
      <Badge tone="good">
        <span className="mono">{maskedKey(secret)}</span>
      </Badge>
      <span className="faint">
        {expiresAt ? (
          <>
            may only chat with this bot, until <ShortTime at={expiresAt} />
          </>
        ) : (
          'held in the memory of this tab, until a reload'
        )}
      </span>
      <span className="key-end">
        <Button look="quiet" onClick={() => void forget()}>
          {expiresAt ? 'Revoke' : 'Forget'}
        </Button>
      </span>
    </div>
  );
}

function NoKey({ botId }: { botId: string }) {
  const unavailable = useWhyNoCreation();
  const [typed, setTyped] = useState('');
  const [state, setState] = useState<{ isBusy: boolean; problem?: Problem | undefined }>({
    isBusy: false,
  });
  const create = async () => {
    setState({ isBusy: true });
    setState({ isBusy: false, problem: await createRestKey(botId) });
  };
  const use = () => {
    if (typed.trim() !== '') holdTypedKey(typed.trim());
  };
  return (
    <div className="key-row">
      <input
        className="input mono"
        type="password"
        aria-label="API key for REST"
        placeholder="parley_sk_…"
        autoComplete="off"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onKeyDown={(event) => {
          if (!isEnter(event)) return;
          event.preventDefault();
          use();
        }}
      />
      <Button unavailable={typed.trim() === '' && 'Type a key first.'} onClick={use}>
        Use key
      </Button>
      <Button
        icon="key"
        isBusy={state.isBusy}
        unavailable={unavailable}
        onClick={() => void create()}
      >
        Create a key for 1 hour
      </Button>
      <Refused problem={state.problem} />
    </div>
  );
}

const CLOCK_MS = 10_000;

/** Why the signed-in key cannot create a key. A key gives no scope that it lacks, and none outlives it. */
function useWhyNoCreation(): string | undefined {
  const { scopes, expiresAt } = useViewer().apiKey;
  const now = useNow(serverNow, CLOCK_MS, expiresAt !== null);
  for (const scope of ['ADMIN', 'CHAT'] as const) if (!scopes.includes(scope)) return lacks(scope);
  if (expiresAt !== null && Date.parse(expiresAt) < now + KEY_LIFETIME_MS)
    return 'Your key expires within the hour, and no key that it creates may outlive it.';
  return undefined;
}
