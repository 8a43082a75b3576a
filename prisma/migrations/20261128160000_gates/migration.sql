-- A value for later statements: a transaction cannot use a value that it has added.
ALTER TYPE "AuditAction" ADD VALUE 'SKIP_GATE';

-- What a definition must pass before it becomes active in production.
ALTER TABLE "bots" ADD COLUMN "gate" JSONB;

-- The gate that a deployment waits for, and the evaluation that decides about it.
ALTER TABLE "deployments" ADD COLUMN "gate" JSONB;
ALTER TABLE "deployments" ADD COLUMN "evaluation_id" TEXT;

-- For the work on gates.
CREATE INDEX "deployments_gate_idx" ON "deployments"("created_at") WHERE gate IS NOT NULL;

CREATE INDEX "deployments_evaluation_idx" ON "deployments"("evaluation_id") WHERE evaluation_id IS NOT NULL;

-- What an evaluation depends on besides the source.
ALTER TABLE "evaluations" ADD COLUMN "basis" TEXT;

-- For gates: an evaluation that has answered the same question.
CREATE INDEX "evaluations_basis_idx" ON "evaluations"("bot_id", "source_hash", "basis", "finished_at") WHERE status = 'COMPLETED';
