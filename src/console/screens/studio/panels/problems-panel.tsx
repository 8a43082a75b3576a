import { memo } from 'react';
import { Icon } from '../../../parts/icon.tsx';
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
              <span className={`status status-${severity === 'ERROR' ? 'bad' : 'warn'}`}>
                <Icon name={severity === 'ERROR' ? 'warning' : 'question'} size={14} />
              </span>
              <span className="studio-entry-text">
                {message}
                <span className="studio-entry-detail mono">
                  {severity === 'ERROR' ? 'error' : 'warning'} at {line}:{column} · {code}
                </span>
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
});
