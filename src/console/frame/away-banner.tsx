import { useEffect } from 'react';
import { Button } from '../parts/button.tsx';
import { toast } from '../parts/toast.tsx';
import { useNow } from '../parts/use-now.ts';
import { connection, returns, tryNow } from '../server/connection.ts';
import { useStore } from '../server/store.ts';

/** Says that the server does not answer, and when it is asked again. */
export function AwayBanner() {
  const state = useStore(connection);
  const returned = useStore(returns);
  useEffect(() => {
    if (returned > 0) toast('Parley is back.');
  }, [returned]);
  if (!state.isAway) return null;
  return (
    <div className="banner" role="alert">
      Parley does not answer. <Countdown key={state.nextTry} until={state.nextTry} />
      <Button onClick={() => void tryNow()}>Try now</Button>
    </div>
  );
}

/** @param props.until the time of the next request, in milliseconds since the epoch */
function Countdown({ until }: { until: number }) {
  const seconds = Math.max(0, Math.ceil((until - useNow(Date.now, 1_000)) / 1_000));
  return seconds > 0 ? `Trying again in ${seconds} s.` : 'Trying again…';
}
