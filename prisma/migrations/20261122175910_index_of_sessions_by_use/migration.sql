CREATE INDEX CONCURRENTLY "sessions_list_idx" ON "sessions"("bot_id", "environment", "last_seen_at" DESC, "id" DESC) WHERE (session_id <> ('draft_' || id));
