import './prompt.css';
import { type Band, KINDS } from './steps.ts';

/** The parts of a prompt by their lengths, as one bar. @param name begins its label. */
export function PromptStack({ bands, name }: { bands: readonly Band[]; name: string }) {
  const total = bands.reduce((sum, { length = 0 }) => sum + length, 0);
  const parts = bands.map(
    ({ kind, length = 0 }) => `${KINDS[kind].name} ${percent(total && length / total)}`,
  );
  return (
    <div className="prompt-stack" role="img" aria-label={`${name} by length: ${parts.join(', ')}`}>
      {bands.map(({ kind, parts: [first], length = 0 }) => (
        <span
          key={first?.place}
          className={`prompt-${kind}`}
          style={{ flexGrow: Math.max(length, total / 200) }}
          title={KINDS[kind].name}
        />
      ))}
    </div>
  );
}

/** A share as text. */
export const percent = (share: number) => `${Math.round(share * 100)} %`;
