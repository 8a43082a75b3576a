-- No version of Parley has stored a row in "channel_states".
DELETE FROM "channel_states";

-- CreateEnum
CREATE TYPE "ChannelStatus" AS ENUM ('PENDING', 'CONNECTED', 'UNAVAILABLE');

-- DropForeignKey
ALTER TABLE "channel_states" DROP CONSTRAINT "channel_states_bot_id_fkey";

-- AlterTable
ALTER TABLE "channel_states" DROP CONSTRAINT "channel_states_pkey",
DROP COLUMN "connected",
DROP COLUMN "error",
DROP COLUMN "secret",
DROP COLUMN "updated_at",
ADD COLUMN     "attempts" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "available_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN     "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
ADD COLUMN     "external_id" TEXT,
ADD COLUMN     "external_name" TEXT,
ADD COLUMN     "leaving" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "poller_id" TEXT,
ADD COLUMN     "problem" TEXT,
ADD COLUMN     "registered_url" TEXT,
ADD COLUMN     "status" "ChannelStatus" NOT NULL,
ADD COLUMN     "webhook_path" TEXT,
ALTER COLUMN "deployment_id" SET NOT NULL,
ADD CONSTRAINT "channel_states_pkey" PRIMARY KEY ("deployment_id", "channel");

-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "history_from" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "telegram_updates" (
    "telegram_bot_id" TEXT NOT NULL,
    "update_id" BIGINT NOT NULL,
    "bot_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "session_id" TEXT NOT NULL,
    "lane" TEXT NOT NULL,
    "message" JSONB,
    "sent_ids" BIGINT[],
    "album" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "available_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "owner_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "done_at" TIMESTAMPTZ(3),

    CONSTRAINT "telegram_updates_pkey" PRIMARY KEY ("telegram_bot_id","update_id")
);

-- CreateTable
CREATE TABLE "telegram_blocked_chats" (
    "telegram_bot_id" TEXT NOT NULL,
    "chat_id" BIGINT NOT NULL,
    "bot_id" TEXT NOT NULL,

    CONSTRAINT "telegram_blocked_chats_pkey" PRIMARY KEY ("telegram_bot_id","chat_id")
);

-- CreateIndex
CREATE INDEX "telegram_updates_bot_id_idx" ON "telegram_updates"("bot_id");

-- CreateIndex
CREATE INDEX "telegram_updates_lane_idx" ON "telegram_updates"("telegram_bot_id", "lane", "update_id") WHERE (done_at IS NULL);

-- CreateIndex
CREATE INDEX "telegram_updates_queue_idx" ON "telegram_updates"("available_at") WHERE (done_at IS NULL);

-- CreateIndex
CREATE INDEX "telegram_updates_created_at_idx" ON "telegram_updates"("created_at");

-- CreateIndex
CREATE INDEX "telegram_blocked_chats_bot_id_idx" ON "telegram_blocked_chats"("bot_id");

-- CreateIndex
CREATE UNIQUE INDEX "channel_states_webhook_path_key" ON "channel_states"("webhook_path");

-- CreateIndex
CREATE INDEX "channel_states_bot_id_environment_idx" ON "channel_states"("bot_id", "environment");

-- CreateIndex
CREATE INDEX "channel_states_work_idx" ON "channel_states"("available_at") WHERE (status = 'PENDING' OR leaving OR (status = 'CONNECTED' AND registered_url IS NULL));

-- CreateIndex
CREATE UNIQUE INDEX "channel_states_claim_key" ON "channel_states"("channel", "external_id") WHERE (NOT leaving);

-- AddForeignKey
ALTER TABLE "channel_states" ADD CONSTRAINT "channel_states_deployment_id_fkey" FOREIGN KEY ("deployment_id") REFERENCES "deployments"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "telegram_updates" ADD CONSTRAINT "telegram_updates_bot_id_fkey" FOREIGN KEY ("bot_id") REFERENCES "bots"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "telegram_blocked_chats" ADD CONSTRAINT "telegram_blocked_chats_bot_id_fkey" FOREIGN KEY ("bot_id") REFERENCES "bots"("id") ON DELETE CASCADE ON UPDATE CASCADE;
