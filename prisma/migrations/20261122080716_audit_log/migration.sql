-- CreateEnum
CREATE TYPE "AuditAction" AS ENUM ('CREATE_ACCOUNT', 'UPDATE_ACCOUNT', 'SUSPEND_ACCOUNT', 'RESUME_ACCOUNT', 'DELETE_ACCOUNT', 'CREATE_API_KEY', 'UPDATE_API_KEY', 'ROTATE_API_KEY', 'REVOKE_API_KEY', 'CREATE_BOT', 'UPDATE_BOT', 'DELETE_BOT', 'DEPLOY', 'ROLLBACK', 'PROMOTE', 'SET_MEMORY', 'FORGET_SESSION');

-- CreateTable
CREATE TABLE "audit_entries" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "action" "AuditAction" NOT NULL,
    "key_id" TEXT,
    "bot_id" TEXT,
    "target_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "audit_entries_log_idx" ON "audit_entries"("account_id", "created_at" DESC, "id" DESC, "action", "key_id", "bot_id");

-- CreateIndex
CREATE INDEX "audit_entries_key_idx" ON "audit_entries"("account_id", "key_id", "created_at" DESC, "id" DESC, "action", "bot_id");

-- CreateIndex
CREATE INDEX "audit_entries_bot_idx" ON "audit_entries"("account_id", "bot_id", "created_at" DESC, "id" DESC, "action", "key_id");

-- CreateIndex
CREATE INDEX "audit_entries_created_at_idx" ON "audit_entries"("created_at");

-- AddForeignKey
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;
