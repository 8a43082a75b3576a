import { useEffect } from 'react';
import { toast } from '../parts/toast.tsx';
import { Thumbs } from './thumbs.tsx';
import { type Given, useRating } from './use-rating.ts';

/** The thumbs below a reply of a conversation. The page of the run has the note. */
export function TurnRating({ runId, feedback }: { runId: string; feedback: readonly Given[] }) {
  const { own, problem, give } = useRating(runId, feedback);
  useEffect(() => {
    if (problem) toast(`The rating is not stored. ${problem.message}`);
  }, [problem]);
  return <Thumbs own={own} give={give} />;
}
