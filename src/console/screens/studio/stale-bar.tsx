import { useState } from 'react';
import type { RunningDeployment } from '../../deploy/use-running.ts';
import { versionName } from '../../deploy/version.ts';
import { TextDiffView } from '../../diff/text-diff-view.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { RelativeTime } from '../../parts/time.tsx';

/** Says that another definition runs than the one that the text is based on, and shows how they differ. */
export function StaleBar({
  running,
  text,
  onTake,
  onKeep,
}: {
  running: RunningDeployment | undefined;
  /** Reads the text of the editor. */
  text(): string;
  onTake(): void;
  onKeep(): void;
}) {
  const [compared, setCompared] = useState<string>();
  const choose = (choice: () => void) => () => {
    setCompared(undefined);
    choice();
  };
  const choices = (
    <>
      {running && <Button onClick={choose(onTake)}>Open {versionName(running)}</Button>}
      <Button onClick={choose(onKeep)}>Keep mine</Button>
    </>
  );
  return (
    <div className="studio-stale" role="status">
      <p>
        {running ? (
          <>
            {versionName(running)} runs, deployed <RelativeTime at={running.createdAt} />. Your text
            is based on an earlier one.
          </>
        ) : (
          'The deployment that your text is based on is no longer active.'
        )}
      </p>
      <span className="studio-stale-actions">
        {running && <Button onClick={() => setCompared(text())}>Show the difference</Button>}
        {choices}
      </span>
      {running && compared !== undefined && (
        <Dialog
          title="Your text and the active definition"
          isWide
          onClose={() => setCompared(undefined)}
        >
          <TextDiffView
            label="Definition"
            before={running.source ?? ''}
            after={compared}
            beforeName={`${versionName(running)}, active`}
            afterName="yours"
          />
          <div className="actions">{choices}</div>
        </Dialog>
      )}
    </div>
  );
}
