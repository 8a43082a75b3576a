-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "created_by_id" TEXT;

-- CreateIndex
CREATE INDEX "api_keys_created_by_id_created_at_id_idx" ON "api_keys"("created_by_id", "created_at" DESC, "id" DESC);

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_created_by_id_fkey" FOREIGN KEY ("created_by_id") REFERENCES "api_keys"("id") ON DELETE SET NULL ON UPDATE CASCADE;
