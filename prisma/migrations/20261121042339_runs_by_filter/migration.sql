-- DropIndex
DROP INDEX "runs_bot_id_channel_created_at_id_idx";

-- DropIndex
DROP INDEX "runs_bot_id_session_id_created_at_id_idx";

-- DropIndex
DROP INDEX "runs_bot_id_status_created_at_id_idx";

-- DropIndex
DROP INDEX "runs_deployment_id_created_at_id_idx";

-- CreateIndex
CREATE INDEX "runs_filter_idx" ON "runs"("bot_id", "kind", "environment", "channel", "status", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "runs_user_idx" ON "runs"("bot_id", "session_id", "kind", "environment", "channel", "status", "created_at" DESC, "id" DESC, "deployment_id");

-- CreateIndex
CREATE INDEX "runs_deployment_idx" ON "runs"("deployment_id", "bot_id", "kind", "environment", "channel", "status", "created_at" DESC, "id" DESC);
