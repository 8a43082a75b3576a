import { type FormEvent, useState } from 'react';
import { Thumbs } from '../../feedback/thumbs.tsx';
import { type Given, type Rating, useRating } from '../../feedback/use-rating.ts';
import { Button } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Refused } from '../../parts/state.tsx';
import { RelativeTime } from '../../parts/time.tsx';
import { RATINGS } from '../../runs/labels.ts';
import type { ShownRun } from './use-run.ts';
import './run-feedback.css';

/** Characters of a note. */
const MOST = 2_000;

/** The ratings of a run: the signed-in key's own rating, which it can change, and the ratings of others. */
export function RunFeedback({ run }: { run: ShownRun }) {
  const rating = useRating(run.id, run.feedback);
  const { own, others, problem, give } = rating;
  return (
    <section className="run-text run-feedback" aria-label="Feedback">
      <header>
        <h2>Feedback</h2>
        <Thumbs own={own} give={give} />
      </header>
      {own && <Note rating={rating} />}
      {problem && <Refused problem={{ ...problem, message: `Not stored. ${problem.message}` }} />}
      {others.length > 0 && (
        <ul aria-label="Ratings by others">
          {others.map((given) => (
            <OtherRating key={given.keyId} given={given} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** The note on the own rating: as text, or the form that changes it. */
function Note({ rating: { own, give } }: { rating: Rating }) {
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [typed, setTyped] = useState('');
  if (!own) return null;
  const open = () => {
    setTyped(own.note ?? '');
    setOpen(true);
  };
  if (!isOpen)
    return (
      <p className="run-feedback-note">
        {own.note && <span>{own.note}</span>}
        <Button look="quiet" icon="edit" onClick={open}>
          {own.note ? 'Edit the note' : 'Add a note'}
        </Button>
      </p>
    );
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const isStored = await give({ rating: own.rating, note: typed.trim() || null });
    setBusy(false);
    // A refused note stays in the field.
    if (isStored) setOpen(false);
  };
  return (
    <form className="form" onSubmit={(event) => void save(event)}>
      <TextArea
        label="Note"
        rows={2}
        maxLength={MOST}
        hint="Everybody who may read this run reads the note."
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <p className="run-feedback-note">
        <Button type="submit" look="primary" isBusy={isBusy}>
          Save the note
        </Button>
        <Button look="quiet" onClick={() => setOpen(false)}>
          Cancel
        </Button>
      </p>
    </form>
  );
}

function OtherRating({ given: { rating, note, keyId, createdAt, updatedAt } }: { given: Given }) {
  return (
    <li>
      <span className={rating === 'UP' ? 'rating-up' : 'rating-down'}>
        <Icon name={rating === 'UP' ? 'thumb-up' : 'thumb-down'} size={13} />
        <span className="unseen">{RATINGS[rating]}</span>
      </span>
      <span>
        {note && <span className="run-feedback-text">{note} </span>}
        <span className="faint">
          {keyId === null ? (
            'by the user'
          ) : (
            <>
              by the key <Id>{keyId}</Id>
            </>
          )}
          , <RelativeTime at={updatedAt} />
          {updatedAt !== createdAt && ', changed'}
        </span>
      </span>
    </li>
  );
}
