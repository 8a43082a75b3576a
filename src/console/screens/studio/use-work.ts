import { useCallback, useEffect, useRef, useState } from 'react';
import type { RunningDeployment } from '../../deploy/use-running.ts';
import {
  defendText,
  forgetText,
  keepText,
  openText,
  type TextPlace,
} from '../../drafts/stored-text.ts';
import type { OpenEditor } from './editor/commands.ts';

const PAUSE_MS = 300;

/** The text of the editor and what it is based on. */
export type Work = {
  /** The text that the editor opens with. */
  initial: string;
  /** Whether the text differs from what runs. */
  isChanged: boolean;
  /** Whether something else runs than what the text is based on. */
  isStale: boolean;
  /** Whether the changes survive a reload of the page. */
  isKept: boolean;
  changed(text: string): void;
  /** Bases the text on what runs now, without a change to it. */
  rebase(): void;
};

/**
 * Keeps the text of the editor in this browser until it is deployed, each tab its own. If another definition is deployed,
 * it replaces an unchanged text.
 *
 * @param start the text to open if there is no kept one.
 */
export function useWork({
  place,
  running,
  start,
  editor,
}: {
  place: TextPlace;
  running: RunningDeployment | undefined;
  start: string;
  editor: OpenEditor | undefined;
}): Work {
  const runningId = running?.id ?? null;
  const [kept] = useState(() => openText(place));
  const [baseId, setBaseId] = useState(kept ? kept.baseId : runningId);
  // What the text is compared with. A kept text counts as changed until it is known to be what runs.
  const base = useRef(start);
  const [isChanged, setChanged] = useState(kept !== undefined && kept.text !== start);
  const [isKept, setKept] = useState(kept?.isKept ?? true);
  const latest = useRef<string>(undefined);

  const save = useCallback(() => {
    const text = latest.current;
    latest.current = undefined;
    if (text === undefined) return;
    if (text === base.current) forgetText(place);
    else setKept(keepText(place, { text, baseId }));
  }, [place, baseId]);
  const saveLater = useSaving(save);
  useEffect(() => defendText(place, setKept), [place]);
  useWarning(isChanged && !isKept);

  const isStale = runningId !== baseId;
  const rebase = () => {
    if (!editor) return;
    const text = editor.text();
    setBaseId(runningId);
    base.current = start;
    setChanged(text !== start);
    if (text === start) forgetText(place);
    else setKept(keepText(place, { text, baseId: runningId }));
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another deployment is a reason
  useEffect(() => {
    if (!editor || !isStale) return;
    if (!isChanged) editor.replace(start);
    if (editor.text() === start) rebase();
  }, [editor, runningId, isStale]);

  return {
    initial: kept?.text ?? start,
    isChanged,
    isStale,
    isKept,
    changed(text) {
      latest.current = text;
      setChanged(text !== base.current);
      saveLater();
    },
    rebase,
  };
}

/** Saves at a pause in typing, and at the latest when the page or the screen is left. */
function useSaving(save: () => void): () => void {
  const current = useRef(save);
  current.current = save;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    const flush = () => {
      clearTimeout(timer.current);
      current.current();
    };
    addEventListener('pagehide', flush);
    return () => {
      removeEventListener('pagehide', flush);
      flush();
    };
  }, []);
  return useCallback(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => current.current(), PAUSE_MS);
  }, []);
}

/** Makes the browser ask before the page is left with a text that it cannot keep. */
function useWarning(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isOn]);
}
