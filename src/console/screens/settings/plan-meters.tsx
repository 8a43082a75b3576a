import { useEffect, useEffectEvent, useRef } from 'react';
import type { UsageQuery } from '../../../generated/operations/console.ts';
import { Meter } from '../../parts/meter.tsx';
import { useNow } from '../../parts/use-now.ts';
import { serverNow } from '../../server/clock.ts';
import { useVisible } from '../../server/visible.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

type Limits = Pick<UsageQuery['viewer'], 'rateLimit'> & {
  usage: Pick<UsageQuery['viewer']['usage'], 'requestsThisMinute' | 'requestsToday'>;
};

/**
 * How much of the limits of the plan is used, and when each counter starts again.
 *
 * @param props.onReset called when a counter has started again, to read it.
 */
export function PlanMeters({
  limits: { usage, rateLimit },
  onReset,
}: {
  limits: Limits;
  onReset(): void;
}) {
  const isVisible = useVisible();
  const now = useNow(serverNow, SECOND_MS, isVisible);
  const minute = Math.floor(now / MINUTE_MS);
  const read = useEffectEvent(onReset);
  const first = useRef(minute);
  useEffect(() => {
    if (minute !== first.current) read();
    first.current = minute;
  }, [minute]);
  return (
    <>
      <Meter
        label="This minute"
        used={usage.requestsThisMinute}
        limit={rateLimit.perMinute}
        note={resetText(now, MINUTE_MS)}
      />
      <Meter
        label="Today"
        used={usage.requestsToday}
        limit={rateLimit.perDay}
        note={resetText(now, DAY_MS)}
      />
      <p className="settings-note">
        Requests of all keys of the account count together. Minutes and days are in UTC.
      </p>
    </>
  );
}

const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

/** When a counter of a period in UTC starts again. @param now in milliseconds since the epoch. */
function resetText(now: number, periodMs: number): string {
  const end = (Math.floor(now / periodMs) + 1) * periodMs;
  const left = end - now;
  if (left <= MINUTE_MS) return `resets in ${Math.ceil(left / SECOND_MS)} s`;
  const minutes = Math.ceil(left / MINUTE_MS);
  const span =
    minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `resets in ${span}, at ${time.format(end)}`;
}
