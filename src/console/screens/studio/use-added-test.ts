import { useEffect } from 'react';
import { withFreeName, withTest } from '../../../language/test-block.ts';
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
    const source = editor.text();
    const test = withFreeName(source, state.test);
    const text = withTest(source, test);
    editor.replace(text);
    const start = text.lastIndexOf(test);
    editor.jump({ start, end: start + test.length });
    toast('Added the test. Deploy the definition to keep it.');
  }, [editor]);
}
