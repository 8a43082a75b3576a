-- AlterTable
ALTER TABLE "bots" ADD COLUMN     "visitor_messages_per_minute" INTEGER NOT NULL DEFAULT 20,
ADD COLUMN     "visitor_sessions_per_hour" INTEGER NOT NULL DEFAULT 20,
ADD COLUMN     "web_origins" TEXT[] DEFAULT ARRAY[]::TEXT[];
