import { memo, type ReactNode, useMemo } from 'react';
import { type Entry, outlineOf } from '../language/outline.ts';
import type { Syntax } from '../language/syntax.ts';

/** Most entries of a section that are in the page. A valid definition has fewer. */
const SHOWN = 200;

/** What the definition declares and uses. A click leads to its place. */
export const OutlinePanel = memo(function OutlinePanel({
  syntax,
  deployed,
  onJump,
}: {
  syntax: Syntax;
  /** The names of the variables that have a value. Undefined if nothing is deployed. */
  deployed: readonly string[] | undefined;
  onJump(entry: Entry): void;
}) {
  const outline = useMemo(() => outlineOf(syntax), [syntax]);
  const section = (title: string, entries: Entry[], detail?: (entry: Entry) => ReactNode) => (
    <Section title={title} entries={entries} detail={detail} onJump={onJump} />
  );
  return (
    <div className="studio-outline">
      {section('Settings', outline.settings)}
      {section('Facts', outline.facts)}
      {section('Channels', outline.channels)}
      {section('Tools', outline.tools)}
      {section('Tests', outline.tests)}
      {section('Variables', outline.variables, ({ name }) =>
        deployed?.includes(name) ? (
          <span className="studio-set">set</span>
        ) : (
          <span className="studio-unset">not set</span>
        ),
      )}
      {outline.settings.length === 0 && (
        <p className="studio-note">The outline appears with the first setting of the agent.</p>
      )}
    </div>
  );
});

function Section({
  title,
  entries,
  detail,
  onJump,
}: {
  title: string;
  entries: Entry[];
  detail: ((entry: Entry) => ReactNode) | undefined;
  onJump(entry: Entry): void;
}) {
  if (entries.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul className="studio-list" aria-label={title}>
        {entries.slice(0, SHOWN).map((entry) => (
          <li key={`${entry.name}:${entry.start}`}>
            <button type="button" className="studio-entry" onClick={() => onJump(entry)}>
              <span className="mono cut">{entry.name}</span>
              <span className="studio-entry-side cut">{detail ? detail(entry) : entry.detail}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
