-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "topic_id" BIGINT;
