import { useState } from 'react';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Refused } from '../../parts/state.tsx';
import { toast } from '../../parts/toast.tsx';
import type { Problem } from '../../server/problem.ts';
import { createRestKey, forgetRestKey, maskedKey, restKey } from '../../server/rest-key.ts';
import { useStore } from '../../server/store.ts';
import { lacks, useScope } from '../../server/viewer.ts';

/** The API key that REST requests are sent with: typed, or created for an hour. */
export function KeyRow({ botId }: { botId: string }) {
  const key = useStore(restKey);
  return key ? (
    <HeldKey secret={key.secret} expiresAt={key.created?.expiresAt} />
  ) : (
    <NoKey botId={botId} />
  );
}

function HeldKey({ secret, expiresAt }: { secret: string; expiresAt: string | undefined }) {
  const forget = async () => {
    const problem = await forgetRestKey();
    if (problem) toast(`The key was not revoked: ${problem.message}`);
    else toast(expiresAt ? 'Revoked the key.' : 'Forgot the key.');
  };
  return (
    <div className="key-row">
      <Badge tone="good">
        <span className="mono">{maskedKey(secret)}</span>
      </Badge>
      <span className="faint">
        {expiresAt
          ? `may only chat with this bot, until ${timeOf(expiresAt)}`
          : 'held in the memory of this tab, until a reload'}
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
  const mayCreate = useScope('ADMIN');
  const [typed, setTyped] = useState('');
  const [state, setState] = useState<{ isBusy: boolean; problem?: Problem | undefined }>({
    isBusy: false,
  });
  const create = async () => {
    setState({ isBusy: true });
    setState({ isBusy: false, problem: await createRestKey(botId) });
  };
  const use = () => {
    if (typed.trim() !== '') restKey.set({ secret: typed.trim() });
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
          if (event.key !== 'Enter') return;
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
        unavailable={!mayCreate && lacks('ADMIN')}
        onClick={() => void create()}
      >
        Create a key for 1 hour
      </Button>
      <Refused problem={state.problem} />
    </div>
  );
}

function timeOf(moment: string): string {
  return new Date(moment).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}
