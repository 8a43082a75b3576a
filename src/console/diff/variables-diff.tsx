import './diff.css';
import type { VariableChanges } from './variables.ts';

/**
 * What happens to the variables, by name. Values never reach the browser.
 *
 * @param kept the label of unchanged variables, such as `carried over`.
 */
export function VariablesDiff({
  changes,
  kept = 'carried over',
}: {
  changes: VariableChanges;
  kept?: string;
}) {
  const groups = [
    { word: 'added', sign: '+', look: 'added', names: changes.added },
    // The value that was sent may be the same: neither the browser nor a reader learns values.
    { word: 'set again', sign: '~', look: 'changed', names: changes.changed },
    { word: 'removed', sign: '−', look: 'removed', names: changes.removed },
    { word: kept, sign: '', look: 'same', names: changes.kept },
  ].filter(({ names }) => names.length > 0);
  const count = changes.added.length + changes.changed.length + changes.removed.length;
  return (
    <section className="diff" aria-label="Variables">
      <header className="diff-head">
        <p>
          <strong>Variables</strong>{' '}
          <span className="soft number">
            {groups.length === 0
              ? 'none'
              : count === 0
                ? 'unchanged'
                : groups.map(({ word, names }) => `${names.length} ${word}`).join(', ')}
          </span>
        </p>
      </header>
      {groups.length > 0 && (
        <ul className="diff-names">
          {groups.flatMap(({ word, sign, look, names }) =>
            names.map((name) => (
              <li key={name} className={`diff-${look}`}>
                <span className="diff-sign" aria-hidden="true">
                  {sign}
                </span>
                <code>{name}</code>
                <span className="diff-word">{word}</span>
              </li>
            )),
          )}
        </ul>
      )}
    </section>
  );
}
