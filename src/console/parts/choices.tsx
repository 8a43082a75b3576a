import type { ReactNode } from 'react';
import './choices.css';

/** A group of choices under one label. A hint stands beside a short label, else below it. */
export function Choices({
  label,
  hints = 'beside',
  children,
}: {
  label: string;
  hints?: 'beside' | 'below';
  children: ReactNode;
}) {
  return (
    <fieldset className={`choices choices-${hints}`}>
      <legend>{label}</legend>
      {children}
    </fieldset>
  );
}

/** One choice with its explanation. An unavailable choice shows the reason. */
export function Choice({
  type = 'checkbox',
  name,
  label,
  hint,
  isChosen,
  unavailable,
  onChange,
}: {
  type?: 'checkbox' | 'radio';
  /** Of a group of radio buttons. */
  name?: string;
  label: ReactNode;
  hint?: ReactNode;
  isChosen: boolean;
  unavailable?: string | false | undefined;
  onChange(isChosen: boolean): void;
}) {
  return (
    <label className="choice" title={unavailable || undefined}>
      <input
        type={type}
        name={name}
        checked={isChosen}
        disabled={Boolean(unavailable)}
        onChange={({ target }) => onChange(target.checked)}
      />
      <span className="choice-text">
        <span className="choice-label">{label}</span>
        {(unavailable || hint) && <small>{unavailable || hint}</small>}
      </span>
    </label>
  );
}
