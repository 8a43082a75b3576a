import type { ReactNode } from 'react';
import { TextDiffView } from '../diff/text-diff-view.tsx';
import type { VariableChanges } from '../diff/variables.ts';
import { VariablesDiff } from '../diff/variables-diff.tsx';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Refused } from '../parts/state.tsx';
import type { Problem } from '../server/problem.ts';

/** Describes a change of an environment, and asks for confirmation. It stays open until the change is done. */
export function ChangeConfirmation({
  title,
  children,
  definition,
  variables,
  kept,
  action,
  isBusy,
  problem,
  unavailable,
  onConfirm,
  onCancel,
}: {
  title: string;
  /** The replaced and the new deployment, in sentences. */
  children: ReactNode;
  definition: {
    before: string | undefined;
    after: string;
    beforeName: string | undefined;
    afterName: string;
  };
  variables: VariableChanges;
  /** What variables do that neither change nor go. */
  kept?: string | undefined;
  action: string;
  isBusy: boolean;
  problem: Problem | undefined;
  unavailable?: string | false | undefined;
  onConfirm(): void;
  onCancel(): void;
}) {
  return (
    <Dialog title={title} isWide onClose={isBusy ? undefined : onCancel}>
      {children}
      <VariablesDiff changes={variables} {...(kept && { kept })} />
      <TextDiffView label="Definition" {...definition} />
      <Refused problem={problem} />
      <div className="actions">
        <Button onClick={onCancel} unavailable={isBusy && 'The request is under way.'}>
          Cancel
        </Button>
        <Button look="primary" isBusy={isBusy} unavailable={unavailable} onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
