import { EditorView } from '@codemirror/view';
import { formatSource } from '../../../../language/format.ts';
import type { SourceRange } from '../../../../language/source.ts';
import { whiteSpaceChanges } from '../language/format-changes.ts';
import { type Renaming, renamingAt } from '../language/rename.ts';
import { type Finding, showServerFindings, syntaxField } from './state.ts';
import { markTests, type TestMark } from './test-gutter.ts';

/** What the screen does with the open editor. */
export type OpenEditor = {
  text(): string;
  /** Formats the text. @returns whether its syntax is correct, so that it could be formatted. */
  format(): boolean;
  /** The name at the cursor, if it can be changed. */
  renaming(): Renaming | undefined;
  /** Puts a new name in place of all occurrences of a name. */
  rename(renaming: Renaming, name: string): void;
  /** Selects a range, shows it in the middle and moves the focus to it. */
  jump(range: SourceRange): void;
  /** Puts another text in place of the whole one. Undo brings it back. */
  replace(text: string): void;
  /** Shows the problems that the server found in the text, until the text changes. */
  showRefused(findings: readonly Finding[]): void;
  /** Marks tests with their verdicts, until the text changes. */
  markTests(marks: ReadonlyMap<string, TestMark>): void;
  focus(): void;
};

export function controlsOf(view: EditorView): OpenEditor {
  const text = () => view.state.doc.toString();
  return {
    text,
    format() {
      const after = formatSource(text());
      if (after === null) return false;
      const changes = whiteSpaceChanges(text(), after);
      if (changes.length > 0) view.dispatch({ changes, userEvent: 'input.format' });
      return true;
    },
    renaming: () => renamingAt(view.state.field(syntaxField), view.state.selection.main.head),
    rename({ ranges }, name) {
      const changes = ranges.map(({ start, end }) => ({ from: start, to: end, insert: name }));
      view.dispatch({ changes, userEvent: 'input.rename' });
    },
    jump({ start, end }) {
      const { length } = view.state.doc;
      const anchor = Math.min(start, length);
      view.dispatch({
        selection: { anchor, head: Math.min(end, length) },
        effects: EditorView.scrollIntoView(anchor, { y: 'center' }),
      });
      view.focus();
    },
    replace(next) {
      if (next === text()) return;
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: next },
        selection: { anchor: 0 },
        userEvent: 'input.replace',
      });
    },
    showRefused(findings) {
      view.dispatch({ effects: showServerFindings.of(findings) });
    },
    markTests(marks) {
      view.dispatch({ effects: markTests.of(marks) });
    },
    focus: () => view.focus(),
  };
}
