-- DropForeignKey
ALTER TABLE "spans" DROP CONSTRAINT "spans_run_id_fkey";

-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "spans" JSONB;

-- DropTable
DROP TABLE "spans";
