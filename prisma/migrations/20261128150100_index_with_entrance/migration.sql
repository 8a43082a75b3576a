CREATE INDEX CONCURRENTLY "runs_enums_idx" ON "runs"("bot_id", "kind", "environment", "channel", "status", "created_at" DESC, "id" DESC, "entrance");
