-- Whoever waits draws a new ticket.
DELETE FROM "turn_waiters";

-- AlterTable
ALTER TABLE "turn_waiters" ADD COLUMN     "lease_id" TEXT NOT NULL;

-- CreateIndex
CREATE INDEX "turn_waiters_lease_id_idx" ON "turn_waiters"("lease_id");
