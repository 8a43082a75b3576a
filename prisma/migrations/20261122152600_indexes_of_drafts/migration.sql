CREATE INDEX CONCURRENTLY "runs_draft_idx" ON "runs"("created_at") WHERE (kind = 'DRAFT');

CREATE INDEX CONCURRENTLY "sessions_draft_idx" ON "sessions"("last_seen_at") WHERE (session_id = ('draft_' || id));
