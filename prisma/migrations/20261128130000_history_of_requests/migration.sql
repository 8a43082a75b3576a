-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "history" JSONB,
ADD COLUMN     "without_tools" BOOLEAN NOT NULL DEFAULT false;
