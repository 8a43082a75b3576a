import { useEffect, useEffectEvent, useRef } from 'react';
import type { ListedEvaluationFragment } from '../../generated/operations/console.ts';
import { useDebounced } from '../server/use-debounced.ts';
import { countsOf } from './labels.ts';

/** Calls `onProgress` when cases of an evaluation have ended or its status has changed. Many at once are one call. */
export function useProgress(
  evaluation: ListedEvaluationFragment | undefined,
  onProgress: () => void,
): void {
  const progress = useDebounced(evaluation ? `${evaluation.status} ${countsOf(evaluation)}` : '');
  const last = useRef(progress);
  const changed = useEffectEvent(onProgress);
  useEffect(() => {
    if (last.current === progress) return;
    last.current = progress;
    changed();
  }, [progress]);
}
