import { memo } from 'react';
import type { Finding } from '../editor/state.ts';

/** The problems of the definition. A click leads to their place. */
export const ProblemsPanel = memo(function ProblemsPanel({
  findings,
  onJump,
}: {
  findings: readonly Finding[];
  onJump(finding: Finding): void;
}) {
  if (findings.length === 0)
    return <p className="studio-note">No problems. The definition is checked as you type.</p>;
  return (
    <ul className="studio-list" aria-label="Problems">
      {findings.map((finding) => {
        const { severity, line, column, message, code } = finding;
        return (
          <li key={`${line}:${column}:${code}:${message}`}>
            <button type="button" className="studio-entry" onClick={() => onJump(finding)}>
              <span className={`dot dot-${severity === 'ERROR' ? 'bad' : 'warn'}`} aria-hidden />
              <span className="studio-entry-text">
                <span className="unseen">{severity === 'ERROR' ? 'Error: ' : 'Warning: '}</span>
                {message}
                <span className="studio-entry-detail mono">
                  {line}:{column} {code}
                </span>
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
});
