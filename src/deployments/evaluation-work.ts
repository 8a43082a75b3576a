import { isOwnerless } from '../coordination/worker-lease.ts';
import { Prisma } from '../generated/prisma/client.ts';

/** Notifies workers that an evaluation or a gate is due, or that an evaluation is cancelled. */
export const EVALUATION_WORK = 'evaluation-work';

const IS_FREE = Prisma.raw(isOwnerless('due.owner_id'));

/** Selects from `evaluations AS due`: a process may take it. One evaluation of an account runs at a time. */
export const IS_EVALUATION_DUE = Prisma.sql`due.finished_at IS NULL AND ${IS_FREE}
  AND (due.status = 'RUNNING' OR NOT EXISTS (
    SELECT 1 FROM evaluations AS other WHERE other.account_id = due.account_id AND other.status = 'RUNNING'))`;

/** Waiting deployments that need a step: without an evaluation, or with one that has ended or is gone. */
export const DUE_GATES = Prisma.sql`
  deployments LEFT JOIN evaluations ON evaluations.id = evaluation_id
  WHERE deployments.gate IS NOT NULL AND deployments.status = 'PENDING'
    AND (evaluations.id IS NULL OR evaluations.finished_at IS NOT NULL)`;

/** Evaluations that go on although their deployment no longer waits. */
export const NEEDLESS_EVALUATIONS = Prisma.sql`
  evaluations JOIN deployments ON evaluation_id = evaluations.id
  WHERE finished_at IS NULL AND NOT cancel_requested AND gate IS NULL`;

/** Whether a worker has anything to do. */
export const IS_WORK_DUE = Prisma.sql`(
  EXISTS (SELECT 1 FROM evaluations AS due WHERE ${IS_EVALUATION_DUE})
  OR EXISTS (SELECT 1 FROM ${DUE_GATES}) OR EXISTS (SELECT 1 FROM ${NEEDLESS_EVALUATIONS}))`;
