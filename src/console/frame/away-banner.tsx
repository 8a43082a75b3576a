import { useEffect, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { toast } from '../parts/toast.tsx';
import { connection, returns, tryNow } from '../server/connection.ts';
import { useStore } from '../server/store.ts';

/** Says that the server does not answer, and when it is asked again. */
export function AwayBanner() {
  const state = useStore(connection);
  const returned = useStore(returns);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (returned > 0) toast('Parley is back.');
  }, [returned]);
  useEffect(() => {
    if (!state.isAway) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [state]);
  if (!state.isAway) return null;
  const seconds = Math.max(0, Math.ceil((state.nextTry - now) / 1_000));
  return (
    <div className="banner" role="alert">
      Parley does not answer. {seconds > 0 ? `Trying again in ${seconds} s.` : 'Trying again…'}
      <Button onClick={() => void tryNow()}>Try now</Button>
    </div>
  );
}
