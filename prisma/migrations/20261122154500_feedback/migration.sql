-- CreateEnum
CREATE TYPE "FeedbackRating" AS ENUM ('UP', 'DOWN');

-- CreateTable
CREATE TABLE "feedback" (
    "run_id" TEXT NOT NULL,
    "author" TEXT NOT NULL,
    "bot_id" TEXT NOT NULL,
    "rating" "FeedbackRating" NOT NULL,
    "note" TEXT,
    "run_created_at" TIMESTAMPTZ(3) NOT NULL,
    "given_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "feedback_pkey" PRIMARY KEY ("run_id","author")
);

-- CreateIndex
CREATE INDEX "feedback_list_idx" ON "feedback"("bot_id", "rating", "run_created_at" DESC, "run_id" DESC);

-- AddForeignKey
ALTER TABLE "feedback" ADD CONSTRAINT "feedback_run_id_fkey" FOREIGN KEY ("run_id") REFERENCES "runs"("id") ON DELETE CASCADE ON UPDATE CASCADE;
