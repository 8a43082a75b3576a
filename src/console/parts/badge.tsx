import './badge.css';
import type { Tone } from './tone.ts';

/** A state: a coloured dot with the word for it. */
export function Badge({ tone, children }: { tone: Tone; children: React.ReactNode }) {
  return (
    <span className="badge">
      <span className={`dot dot-${tone}`} aria-hidden="true" />
      <span className="badge-text">{children}</span>
    </span>
  );
}
