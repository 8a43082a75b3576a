-- The keys of requests that are answered by a run or a deployment go on as those of API keys of its bot; those of
-- requests whose process has stopped for this migration are free again.
ALTER TABLE "idempotency_records" ADD COLUMN "namespace" TEXT;
UPDATE "idempotency_records" AS record SET "namespace" = 'key:' || run."bot_id"
FROM "runs" AS run WHERE run."id" = record."run_id";
UPDATE "idempotency_records" AS record SET "namespace" = 'key:' || deployment."bot_id"
FROM "deployments" AS deployment WHERE deployment."id" = record."deployment_id";
DELETE FROM "idempotency_records" WHERE "namespace" IS NULL;

-- AlterTable
ALTER TABLE "idempotency_records" DROP CONSTRAINT "idempotency_records_pkey",
ALTER COLUMN "namespace" SET NOT NULL,
ADD CONSTRAINT "idempotency_records_pkey" PRIMARY KEY ("account_id", "namespace", "key");
