-- AlterTable
ALTER TABLE "sign_in_codes" ADD COLUMN     "session_hash" TEXT;

-- CreateIndex
CREATE INDEX "sign_in_codes_session_hash_idx" ON "sign_in_codes"("session_hash");

-- AddForeignKey
ALTER TABLE "sign_in_codes" ADD CONSTRAINT "sign_in_codes_session_hash_fkey" FOREIGN KEY ("session_hash") REFERENCES "console_sessions"("hash") ON DELETE CASCADE ON UPDATE CASCADE;
