-- AlterTable
ALTER TABLE "sessions" DROP COLUMN "lease_expires_at",
ADD COLUMN     "lease_id" TEXT;

-- DropTable
DROP TABLE "run_owners";

-- CreateTable
CREATE TABLE "turn_waiters" (
    "ticket" BIGSERIAL NOT NULL,
    "session_key" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,

    CONSTRAINT "turn_waiters_pkey" PRIMARY KEY ("ticket")
);

-- CreateTable
CREATE TABLE "owners" (
    "id" TEXT NOT NULL,
    "heartbeat_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "owners_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "turn_waiters_session_key_ticket_idx" ON "turn_waiters"("session_key", "ticket");

-- CreateIndex
CREATE INDEX "turn_waiters_owner_id_idx" ON "turn_waiters"("owner_id");

-- AddForeignKey
ALTER TABLE "turn_waiters" ADD CONSTRAINT "turn_waiters_session_key_fkey" FOREIGN KEY ("session_key") REFERENCES "sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "turn_waiters" ADD CONSTRAINT "turn_waiters_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "owners"("id") ON DELETE CASCADE ON UPDATE CASCADE;
