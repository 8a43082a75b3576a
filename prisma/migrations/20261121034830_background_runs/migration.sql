-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "background" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "traceparent" TEXT;

-- CreateIndex
CREATE INDEX "sessions_last_seen_at_idx" ON "sessions"("last_seen_at");
