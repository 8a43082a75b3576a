import { EvaluationChanges } from '../../generated/operations/console.ts';
import { createUseChanges } from '../server/use-changes.ts';

/** Follows an evaluation until it has ended: its state after each attempt at a case. */
export const useEvaluationChanges = createUseChanges(EvaluationChanges);
