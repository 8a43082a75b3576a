-- Evaluations also repeat recorded runs.
ALTER TABLE "evaluations" ADD COLUMN "replay_session" BOOLEAN NOT NULL DEFAULT true;

-- The recorded run that a case repeats. No foreign key: the run may be deleted before its case.
ALTER TABLE "evaluation_cases" ADD COLUMN "run_id" TEXT;
