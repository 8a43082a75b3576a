import type { VariableChanges } from '../diff/variables.ts';
import type { Problem } from '../server/problem.ts';
import { ChangeConfirmation } from './change-confirmation.tsx';
import { Findings } from './findings.tsx';
import { RunningVersion } from './running-version.tsx';
import type { Finding } from './use-reading.ts';
import type { RunningReading } from './use-running.ts';
import { versionName } from './version.ts';

/** Describes the changes of a deploy, and asks for confirmation. */
export function DeployConfirmation({
  botName,
  place,
  source,
  reading,
  changes,
  warnings,
  ...answers
}: {
  botName: string;
  /** The name of the environment. */
  place: string;
  source: string;
  reading: RunningReading;
  changes: VariableChanges;
  warnings: Finding[];
  isBusy: boolean;
  problem: Problem | undefined;
  onConfirm(): void;
  onCancel(): void;
}) {
  const { running } = reading;
  return (
    <ChangeConfirmation
      title={`Deploy to ${place}?`}
      definition={{
        before: running?.source,
        after: source,
        beforeName: running && versionName(running),
        afterName: 'new',
      }}
      variables={changes}
      action={`Deploy to ${place}`}
      {...answers}
    >
      <p>
        {running
          ? `This replaces ${versionName(running)} in ${place} of ${botName}. The next request already uses it.`
          : `This is the first deployment to ${place} of ${botName}. The next request already uses it.`}
      </p>
      <RunningVersion reading={reading} place={place} />
      <Findings findings={warnings} />
    </ChangeConfirmation>
  );
}
