import { useEffect } from 'react';
import type { SourceRange } from '../../../language/source.ts';
import { withFreeName, withTest, writeTest } from '../../../language/test-block.ts';
import { toast } from '../../parts/toast.tsx';
import { isRecord } from '../../server/record.ts';
import type { OpenEditor } from './editor/commands.ts';

/** Adds the test that another screen gives to the Studio with the entry of the history, once. */
export function useAddedTest(editor: OpenEditor | undefined): void {
  useEffect(() => {
    const state: unknown = history.state;
    if (!editor || !isRecord(state) || typeof state.test !== 'string') return;
    const { test: _, ...others } = state;
    history.replaceState(others, '');
    editor.jump(addTest(editor, state.test));
    toast('Added the test. Deploy the definition to keep it.');
  }, [editor]);
}

/** The test that "Add a test" writes. A greeting that repeats the user's word passes it. */
export const FIRST_TEST = writeTest({
  name: 'answers a greeting',
  turns: ['Hello'],
  expectations: [{ type: 'contains', text: 'hello' }],
});

/** Adds a test at the end of the agent. @returns its range. */
export function addTest(editor: OpenEditor, written: string): SourceRange {
  const source = editor.text();
  const test = withFreeName(source, written);
  const text = withTest(source, test);
  editor.replace(text);
  const start = text.lastIndexOf(test);
  return { start, end: start + test.length };
}
