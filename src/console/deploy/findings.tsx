import './deploy.css';
import type { Finding } from './use-reading.ts';

/** Problems of a definition with their positions. */
export function Findings({
  findings,
  label = 'Problems',
  onGoTo,
}: {
  findings: Finding[];
  label?: string;
  /** Goes to a position of the definition. Without it, positions are text. */
  onGoTo?: ((finding: Finding) => void) | undefined;
}) {
  if (findings.length === 0) return null;
  return (
    <ul className="findings" aria-label={label}>
      {findings.map((finding) => {
        const { severity, line, column, message, code } = finding;
        const position = `${line}:${column}`;
        return (
          <li
            key={`${position}:${code}:${message}`}
            className={`finding-${severity.toLowerCase()}`}
          >
            {onGoTo ? (
              <button
                type="button"
                className="finding-position mono"
                onClick={() => onGoTo(finding)}
              >
                <span className="unseen">Go to </span>
                {position}
              </button>
            ) : (
              <span className="mono">{position}</span>
            )}
            <span>
              {severity === 'ERROR' ? 'Error' : 'Warning'}: {message}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
