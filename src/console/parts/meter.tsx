import './meter.css';

/** Above this share of its limit, a bar warns. */
const HIGH = 0.9;

/** How much of a limit is used, as a bar with its numbers. */
export function Meter({
  label,
  used,
  limit,
  note,
}: {
  label: string;
  used: number;
  limit: number;
  /** When it starts again. */
  note?: string;
}) {
  return (
    <div className="meter">
      <div className="meter-text">
        <span>
          {label}
          {note && <span className="soft"> · {note}</span>}
        </span>
        <span className="number">
          <b>{used.toLocaleString('en')}</b>{' '}
          <span className="faint">of {limit.toLocaleString('en')}</span>
        </span>
      </div>
      <meter aria-label={label} min={0} max={limit} high={limit * HIGH} optimum={0} value={used} />
    </div>
  );
}
