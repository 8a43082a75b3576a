-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "account_id" TEXT,
ADD COLUMN     "available_at" TIMESTAMPTZ(3);

-- The queue is the rows of the runs themselves from now on. Runs that wait or are active keep their place.
UPDATE "runs"
SET "account_id" = "bots"."account_id",
    "available_at" = CASE WHEN "attempt" > 0 THEN now() END
FROM "bots"
WHERE "bots"."id" = "runs"."bot_id" AND "background" AND "status" IN ('QUEUED', 'RUNNING');

-- The tables of pg-boss, which held the queue before.
DROP SCHEMA IF EXISTS "pgboss" CASCADE;

-- CreateIndex
CREATE INDEX "runs_queued_idx" ON "runs"("account_id", "bot_id", "id") WHERE (status = 'QUEUED' AND attempt = 0);

-- CreateIndex
CREATE INDEX "runs_retry_idx" ON "runs"("available_at") WHERE (status = 'QUEUED' AND attempt > 0);

-- CreateIndex
CREATE INDEX "runs_background_idx" ON "runs"("account_id") WHERE (status = 'RUNNING' AND background);
