import { useState } from 'react';
import { SetFact } from '../../../generated/operations/console.ts';
import type { Fact } from '../../chat/stored-turns.ts';
import type { SessionName } from '../../chat/use-stored-session.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { scrollArea } from '../../parts/copy.tsx';
import { RelativeTime } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import { mutate } from '../../server/operations.ts';
import { lacks, useScope } from '../../server/viewer.ts';
import { FactDialog } from './fact-dialog.tsx';

/** Characters of a value from which it scrolls by itself. */
const LONG = 400;

/** The memory of a session: facts that can be added, changed and deleted. */
export function SessionMemory({
  name,
  facts,
  onChange,
}: {
  name: SessionName;
  facts: Fact[];
  onChange(): void;
}) {
  const mayChange = useScope('CHAT');
  const unavailable = !mayChange && lacks('CHAT');
  /** The fact in the dialog; `null` for a new one. */
  const [edited, setEdited] = useState<Fact | null>();
  const restore = async (fact: string, value: string | null) => {
    const { problem } = await mutate(SetFact, { ...name, name: fact, value });
    toast(problem ? problem.message : `Restored ${fact}.`);
    onChange();
  };
  const remove = async ({ name: fact, value }: Fact) => {
    const { problem } = await mutate(SetFact, { ...name, name: fact, value: null });
    onChange();
    if (problem) toast(problem.message);
    else toast(`Deleted ${fact}.`, () => restore(fact, value));
  };
  return (
    <aside className="session-memory" aria-label="Memory">
      <header>
        <h3>Memory</h3>
        <Button look="quiet" icon="plus" unavailable={unavailable} onClick={() => setEdited(null)}>
          Add a fact
        </Button>
      </header>
      {facts.length === 0 ? (
        <p className="faint">
          The bot remembers nothing about this user. It saves the facts that its definition declares
          in memory, and you can add others. They are in the prompt of each message.
        </p>
      ) : (
        <ul>
          {facts.map((fact) => (
            <li key={fact.name} className="fact-row">
              <p className="fact-name">
                <span className="mono">{fact.name}</span>
                <span className="faint">
                  <RelativeTime at={fact.updatedAt} />
                </span>
              </p>
              <FactValue fact={fact} />
              <span className="fact-actions">
                <IconButton
                  label={`Edit ${fact.name}`}
                  icon="edit"
                  unavailable={unavailable}
                  onClick={() => setEdited(fact)}
                />
                <IconButton
                  label={`Delete ${fact.name}`}
                  icon="trash"
                  unavailable={unavailable}
                  onClick={() => void remove(fact)}
                />
              </span>
            </li>
          ))}
        </ul>
      )}
      {edited !== undefined && (
        <FactDialog
          session={name}
          fact={edited ?? undefined}
          facts={facts}
          onSaved={(fact, before) => {
            setEdited(undefined);
            onChange();
            const done = before === undefined ? `Added ${fact}.` : `Changed ${fact}.`;
            toast(done, () => restore(fact, before ?? null));
          }}
          onClose={() => setEdited(undefined)}
        />
      )}
    </aside>
  );
}

function FactValue({ fact: { name, value } }: { fact: Fact }) {
  return (
    <p
      className="fact-value"
      dir="auto"
      {...(value.length > LONG && scrollArea(`Value of ${name}`))}
    >
      {value}
    </p>
  );
}
