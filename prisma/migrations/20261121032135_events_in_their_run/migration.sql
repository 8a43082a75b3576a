-- DropForeignKey
ALTER TABLE "run_events" DROP CONSTRAINT "run_events_run_id_fkey";

-- AlterTable
ALTER TABLE "idempotency_records" ADD COLUMN     "owner_id" TEXT;

-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "cancel_requested" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "events" JSONB;

-- DropTable
DROP TABLE "run_events";
