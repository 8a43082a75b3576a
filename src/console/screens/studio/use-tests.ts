import { useEffect, useState } from 'react';
import {
  BeginEvaluation,
  EvaluatedTests,
  type EvaluationInput,
  type ListedEvaluationFragment,
} from '../../../generated/operations/console.ts';
import { BOUNDS } from '../../../language/bounds.ts';
import type { Environment } from '../../../vocabulary/environments.ts';
import { isActiveEvaluation } from '../../../vocabulary/evaluations.ts';
import { useProgress } from '../../evaluations/use-progress.ts';
import { useMutate, useServerQuery } from '../../server/operations.ts';
import type { Problem } from '../../server/problem.ts';
import type { OpenEditor } from './editor/commands.ts';
import type { TestMark } from './editor/test-gutter.ts';

/** Which cases of the text in the editor run: all tests, some tests, or recorded runs. */
export type Cases = Pick<EvaluationInput, 'tests' | 'testNames' | 'replay'>;

/** Evaluations of the text in the editor. */
export type Tests = {
  /** The latest evaluation, with the text that it evaluates. */
  latest: { id: string; source: string } | undefined;
  run(cases: Cases): void;
  isBusy: boolean;
  problem: Problem | undefined;
};

/** Starts evaluations of the text in the editor. */
export function useTests(
  botId: string,
  environment: Environment,
  editor: OpenEditor | undefined,
): Tests {
  const [latest, setLatest] = useState<Tests['latest']>();
  const { run: begin, isBusy, problem } = useMutate(BeginEvaluation);
  const start = async (cases: Cases) => {
    if (!editor) return;
    const source = editor.text();
    const { data } = await begin({ botId, input: { source, environment, ...cases } });
    if (data?.startEvaluation) setLatest({ id: data.startEvaluation.id, source });
  };
  return { latest, isBusy, problem, run: (cases) => void start(cases) };
}

/** Marks the tests of an evaluation in the editor, as long as its text is the evaluated one. */
export function useTestMarks(
  botId: string,
  { id, source }: { id: string; source: string },
  evaluation: ListedEvaluationFragment | undefined,
  editor: OpenEditor,
): void {
  const { data, retry } = useServerQuery(EvaluatedTests, { botId, id, first: BOUNDS.tests });
  const isActive = evaluation === undefined || isActiveEvaluation(evaluation);
  useProgress(evaluation, retry);
  useEffect(() => {
    const results = data?.evaluation?.results;
    if (!results || editor.text() !== source) return;
    const marks = new Map<string, TestMark>();
    for (const { name, runId, verdict } of results) {
      const mark = verdict ?? (isActive ? 'RUNNING' : undefined);
      if (runId === null && mark) marks.set(name, mark);
    }
    editor.markTests(marks);
  }, [data, isActive, editor, source]);
}
