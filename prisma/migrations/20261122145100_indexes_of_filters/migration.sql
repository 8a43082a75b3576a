CREATE INDEX CONCURRENTLY "runs_model_idx" ON "runs"("bot_id", "model", "kind", "environment", "channel", "status", "created_at" DESC, "id" DESC);

CREATE INDEX CONCURRENTLY "runs_error_idx" ON "runs"("bot_id", "error_code", "kind", "environment", "channel", "status", "created_at" DESC, "id" DESC) WHERE (error_code IS NOT NULL);

CREATE INDEX CONCURRENTLY "runs_latency_idx" ON "runs"("bot_id", run_level("latency_ms"), "created_at" DESC, "id" DESC) INCLUDE ("latency_ms", "kind", "environment", "channel", "status") WHERE ("latency_ms" IS NOT NULL);

CREATE INDEX CONCURRENTLY "runs_tokens_idx" ON "runs"("bot_id", run_level("prompt_tokens"::bigint + "completion_tokens"), "created_at" DESC, "id" DESC) INCLUDE ("prompt_tokens", "completion_tokens", "kind", "environment", "channel", "status") WHERE ("prompt_tokens"::bigint + "completion_tokens" > 0);

CREATE INDEX CONCURRENTLY "runs_text_idx" ON "runs" USING GIN (run_lexemes("bot_id", "created_at", "input", "response")) WHERE (status IN ('COMPLETED', 'FAILED', 'CANCELLED'));
