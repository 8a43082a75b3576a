import { useState } from 'react';
import { SelectField, TextField } from '../../../parts/field.tsx';
import { LocalTime } from '../../../parts/time.tsx';
import { serverNow } from '../../../server/clock.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Choices of an expiry: as it is, never, a number of days, or a time. */
type Choice = 'same' | 'never' | '30' | '90' | '365' | 'time';

/** When a key expires. It reports `undefined` for no change, `null` for never. */
export function ExpiryField({
  current,
  latest,
  error,
  onChange,
}: {
  /** The expiry of an existing key; `undefined` for a new one. */
  current?: string | null | undefined;
  /** The expiry of the signed-in key, which no key that it makes outlives. */
  latest: string | null;
  error?: string | undefined;
  onChange(expiresAt: string | null | undefined): void;
}) {
  const isNew = current === undefined;
  const [choice, setChoice] = useState<Choice>(isNew ? 'never' : 'same');
  const [time, setTime] = useState('');
  const [expiresAt, setExpiresAt] = useState<string | null | undefined>();
  const choose = (next: Choice, nextTime = time) => {
    const at = expiryOf(next, nextTime, latest);
    setChoice(next);
    setTime(nextTime);
    setExpiresAt(at);
    onChange(at);
  };
  return (
    <>
      <SelectField
        label="Expires"
        value={choice}
        error={choice === 'time' ? undefined : error}
        hint={expiresAt ? <LocalTime at={expiresAt} /> : undefined}
        onChange={({ target }) => choose(target.value as Choice)}
      >
        {!isNew && <option value="same">No change</option>}
        <option value="never">{latest === null ? 'Never' : 'With your key'}</option>
        <option value="30">In 30 days</option>
        <option value="90">In 90 days</option>
        <option value="365">In a year</option>
        <option value="time">At a time…</option>
      </SelectField>
      {choice === 'time' && (
        <TextField
          label="Time, in your time zone"
          type="datetime-local"
          required
          value={time}
          error={error}
          onChange={({ target }) => choose('time', target.value)}
        />
      )}
    </>
  );
}

function expiryOf(choice: Choice, time: string, latest: string | null): string | null | undefined {
  switch (choice) {
    case 'same':
      return undefined;
    case 'never':
      return latest;
    case 'time':
      return time === '' ? undefined : new Date(time).toISOString();
    default:
      return new Date(serverNow() + Number(choice) * DAY_MS).toISOString();
  }
}
