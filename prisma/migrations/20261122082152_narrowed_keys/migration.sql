-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "narrowed_at" TIMESTAMPTZ(3);
