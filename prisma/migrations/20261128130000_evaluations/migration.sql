-- The state of an evaluation. QUEUED and RUNNING are not final.
CREATE TYPE "EvaluationStatus" AS ENUM ('QUEUED', 'RUNNING', 'COMPLETED', 'CANCELLED', 'FAILED');

-- What became of a case of an evaluation.
CREATE TYPE "EvaluationVerdict" AS ENUM ('PASSED', 'FAILED', 'DIVERGED', 'SKIPPED');

-- Executions of the tests of sources.
CREATE TABLE "evaluations" (
    "id" TEXT NOT NULL,
    "bot_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "key_id" TEXT,
    "source" TEXT NOT NULL,
    "source_hash" TEXT NOT NULL,
    "env_vars" BYTEA,
    "model" TEXT,
    "repeat" INTEGER NOT NULL,
    "status" "EvaluationStatus" NOT NULL DEFAULT 'QUEUED',
    "note" TEXT,
    "cancel_requested" BOOLEAN NOT NULL DEFAULT false,
    "owner_id" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "cases" INTEGER NOT NULL,
    "passed" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "diverged" INTEGER NOT NULL DEFAULT 0,
    "skipped" INTEGER NOT NULL DEFAULT 0,
    "prompt_tokens" INTEGER NOT NULL DEFAULT 0,
    "completion_tokens" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "evaluations_pkey" PRIMARY KEY ("id")
);

CREATE INDEX "evaluations_list_idx" ON "evaluations"("bot_id", "created_at" DESC, "id" DESC);

-- For the work.
CREATE INDEX "evaluations_work_idx" ON "evaluations"("created_at") WHERE finished_at IS NULL;

-- At most one evaluation of an account runs at a time, in whichever process.
CREATE UNIQUE INDEX "evaluations_running_key" ON "evaluations"("account_id") WHERE status = 'RUNNING';

ALTER TABLE "evaluations" ADD CONSTRAINT "evaluations_bot_id_fkey" FOREIGN KEY ("bot_id") REFERENCES "bots"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The tests of an evaluation, with their results so far.
CREATE TABLE "evaluation_cases" (
    "id" TEXT NOT NULL,
    "evaluation_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "line" INTEGER NOT NULL,
    "column" INTEGER NOT NULL,
    "finished" INTEGER NOT NULL DEFAULT 0,
    "passed" INTEGER NOT NULL DEFAULT 0,
    "verdict" "EvaluationVerdict",
    "attempts" JSONB NOT NULL DEFAULT '[]',

    CONSTRAINT "evaluation_cases_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "evaluation_cases_position_key" ON "evaluation_cases"("evaluation_id", "position");

ALTER TABLE "evaluation_cases" ADD CONSTRAINT "evaluation_cases_evaluation_id_fkey" FOREIGN KEY ("evaluation_id") REFERENCES "evaluations"("id") ON DELETE CASCADE ON UPDATE CASCADE;
