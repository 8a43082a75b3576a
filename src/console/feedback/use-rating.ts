import { useRef, useState } from 'react';
import {
  AddFeedback,
  type GivenFeedbackFragment,
  RemoveFeedback,
} from '../../generated/operations/console.ts';
import { mutate } from '../server/operations.ts';
import type { Problem } from '../server/problem.ts';
import { useScope, useViewer } from '../server/viewer.ts';

/** The rating of a run by one author. */
export type Given = GivenFeedbackFragment;

/** What an author gives. */
type Opinion = Pick<Given, 'rating' | 'note'>;

export type Rating = {
  /** The rating by the signed-in key, as it will be once the server has it. */
  own: Opinion | undefined;
  others: Given[];
  problem: Problem | undefined;
  /** Stores a rating in place of the earlier one, or removes it. */
  give(opinion: Opinion | undefined): Promise<boolean>;
};

/** Whether the signed-in key may rate runs. */
export function useMayRate(): boolean {
  const mayChat = useScope('CHAT');
  return useScope('RUNS') || mayChat;
}

/**
 * The rating of a run by the signed-in key. A change shows at once and is taken back if the server refuses it. Changes
 * that follow each other are sent in order; only the last one counts.
 *
 * @param stored the ratings as they were read last.
 */
export function useRating(runId: string, stored: readonly Given[]): Rating {
  const keyId = useViewer().apiKey.id;
  const storedOwn = stored.find((given) => given.keyId === keyId);
  // The rating given since the ratings were read. The next read replaces it.
  const [given, setGiven] = useState<{ opinion: Opinion | undefined }>();
  const [wanted, setWanted] = useState<{ opinion: Opinion | undefined }>();
  const [problem, setProblem] = useState<Problem>();
  const read = JSON.stringify(storedOwn);
  const [lastRead, setLastRead] = useState(read);
  if (read !== lastRead) {
    setLastRead(read);
    setGiven(undefined);
  }
  const latest = useRef<object>(undefined);
  const before = useRef<Promise<unknown>>(Promise.resolve());

  const give = (opinion: Opinion | undefined): Promise<boolean> => {
    const change = { opinion };
    latest.current = change;
    setWanted(change);
    setProblem(undefined);
    const sent = before.current.then(async () => {
      if (latest.current !== change) return false;
      const refusal = await send(runId, opinion);
      if (!refusal) setGiven(change);
      if (latest.current !== change) return !refusal;
      setWanted(undefined);
      setProblem(refusal);
      return !refusal;
    });
    before.current = sent;
    return sent;
  };
  const shown = wanted ?? given;
  return {
    own: shown ? shown.opinion : storedOwn,
    others: stored.filter((one) => one !== storedOwn),
    problem,
    give,
  };
}

/** The types whose queries count ratings. */
const CHANGED = ['Run', 'BotStats'];

/** @returns why the server refused. */
async function send(runId: string, opinion: Opinion | undefined): Promise<Problem | undefined> {
  const { problem } = opinion
    ? await mutate(AddFeedback, { runId, ...opinion }, CHANGED)
    : await mutate(RemoveFeedback, { runId }, CHANGED);
  return problem;
}
