-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "cached_tokens" INTEGER,
ADD COLUMN     "error_detail" TEXT,
ADD COLUMN     "finish_reason" TEXT,
ADD COLUMN     "reasoning_tokens" INTEGER;
