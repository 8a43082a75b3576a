-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "key_id" TEXT;
