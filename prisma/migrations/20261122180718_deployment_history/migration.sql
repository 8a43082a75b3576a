-- AlterTable
ALTER TABLE "deployments" ADD COLUMN     "key_id" TEXT,
ADD COLUMN     "previous_id" TEXT,
ADD COLUMN     "sent_env_names" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "version" INTEGER;

-- CreateIndex
CREATE INDEX "deployments_previous_id_idx" ON "deployments"("previous_id");

-- CreateIndex
CREATE UNIQUE INDEX "deployments_bot_id_version_key" ON "deployments"("bot_id", "version");

-- AddForeignKey
ALTER TABLE "deployments" ADD CONSTRAINT "deployments_previous_id_fkey" FOREIGN KEY ("previous_id") REFERENCES "deployments"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- Number the existing deployments, and find what each of them replaced and which key made it.
UPDATE "deployments" AS "one" SET "version" = "history"."version", "previous_id" = "history"."previous_id"
FROM (
  SELECT "id", row_number() OVER (PARTITION BY "bot_id" ORDER BY "created_at", "id") AS "version", (
    SELECT "earlier"."id" FROM "deployments" AS "earlier"
    WHERE "earlier"."bot_id" = "later"."bot_id" AND "earlier"."environment" = "later"."environment"
      AND "earlier"."status" = 'DEPLOYED' AND ("earlier"."created_at", "earlier"."id") < ("later"."created_at", "later"."id")
    ORDER BY "earlier"."created_at" DESC, "earlier"."id" DESC LIMIT 1
  ) AS "previous_id"
  FROM "deployments" AS "later"
) AS "history"
WHERE "history"."id" = "one"."id";

UPDATE "deployments" SET "key_id" = "audit_entries"."key_id" FROM "audit_entries"
WHERE "audit_entries"."target_id" = "deployments"."id" AND "audit_entries"."action" IN ('DEPLOY', 'ROLLBACK', 'PROMOTE');
