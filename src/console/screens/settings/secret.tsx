import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Refused } from '../../parts/state.tsx';
import type { Problem } from '../../server/problem.ts';

/** A new secret with the name of its key or account. */
export type Issued = {
  title: string;
  secret: string;
  /** Further consequences, such as for this session. */
  note?: string | undefined;
  problem?: Problem | undefined;
};

/** Shows a new secret, once. Only its button closes the dialog, so that no stray click loses the secret. */
export function SecretDialog({ issued, onClose }: { issued: Issued; onClose(): void }) {
  const { title, secret, note, problem } = issued;
  return (
    <Dialog title={title}>
      <p className="secret-warning">
        Copy it now and store it in a safe place. Parley keeps only a hash of it and cannot show it
        again.
      </p>
      <div className="secret">
        <CodeBlock label="API key">{secret}</CodeBlock>
      </div>
      <p className="soft">
        A person signs in to the console with it at <span className="mono">{location.origin}</span>.
        A program sends it as a bearer token.
      </p>
      {note && <p className="soft">{note}</p>}
      <Refused problem={problem} />
      <div className="actions">
        <Button look="primary" onClick={onClose}>
          I have stored it
        </Button>
      </div>
    </Dialog>
  );
}
