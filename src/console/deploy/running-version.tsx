import { Button } from '../parts/button.tsx';
import { RelativeTime } from '../parts/time.tsx';
import type { RunningReading } from './use-running.ts';
import { versionName } from './version.ts';

/** What runs now, and whether it changed since it was shown first. */
export function RunningVersion({
  reading: { running, isReplaced, know },
  place,
  isBusy = false,
}: {
  reading: RunningReading;
  /** The name of the environment. */
  place: string;
  /** Whether this page deploys: a new deployment may be its own, whose answer is on its way. */
  isBusy?: boolean;
}) {
  return (
    <>
      <p className="soft">
        {running ? (
          <>
            {versionName(running)} runs in {place}, deployed <RelativeTime at={running.createdAt} />
            {running.message && <span className="faint"> · {running.message}</span>}
          </>
        ) : (
          `Nothing runs in ${place} yet.`
        )}
      </p>
      <div role="status" className="deploy-notice-place">
        {isReplaced && !isBusy && (
          <div className="deploy-notice">
            <p>
              {running
                ? `${versionName(running)} was deployed to ${place} elsewhere while this was open. The difference is now to it.`
                : `Nothing runs in ${place} any more.`}
            </p>
            <Button look="quiet" onClick={() => know(running?.id)}>
              Got it
            </Button>
          </div>
        )}
      </div>
    </>
  );
}
