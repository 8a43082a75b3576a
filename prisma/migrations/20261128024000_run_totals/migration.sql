-- CreateEnum
CREATE TYPE "TotalUnit" AS ENUM ('HOUR', 'DAY');

-- CreateTable
CREATE TABLE "run_totals" (
    "bot_id" TEXT NOT NULL,
    "unit" "TotalUnit" NOT NULL,
    "start" TIMESTAMPTZ(3) NOT NULL,
    "kind" "RunKind" NOT NULL,
    "environment" "Environment" NOT NULL,
    "channel" "Channel" NOT NULL,
    "status" "RunStatus" NOT NULL,
    "key_id" TEXT NOT NULL,
    "runs" INTEGER NOT NULL,
    "tokens" BIGINT NOT NULL,
    "latencies" BYTEA NOT NULL,

    CONSTRAINT "run_totals_pkey" PRIMARY KEY ("bot_id","unit","start","kind","environment","channel","status","key_id")
);

-- CreateTable
CREATE TABLE "run_total_changes" (
    "id" BIGSERIAL NOT NULL,
    "bot_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "kind" "RunKind" NOT NULL,
    "environment" "Environment" NOT NULL,
    "channel" "Channel" NOT NULL,
    "status" "RunStatus" NOT NULL,
    "key_id" TEXT NOT NULL,
    "latency_ms" INTEGER,
    "runs" INTEGER NOT NULL,
    "tokens" BIGINT NOT NULL,

    CONSTRAINT "run_total_changes_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "run_total_changes_bot_id_created_at_idx" ON "run_total_changes"("bot_id", "created_at");

-- CreateTable
CREATE TABLE "run_totals_range" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "version" BIGINT NOT NULL DEFAULT 0,
    "counted_from" TIMESTAMPTZ(3) NOT NULL,
    "counted_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "run_totals_range_pkey" PRIMARY KEY ("id")
);

-- Changes live for a minute, so that a share of the table says little. Rows of totals grow where they are.
ALTER TABLE "run_total_changes" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE "run_totals" SET (fillfactor = 80);

-- No run is counted yet. The servers count the existing runs in the background, the newest first.
INSERT INTO "run_totals_range" ("counted_from", "counted_until")
VALUES (date_trunc('hour', now(), 'UTC'), date_trunc('hour', now(), 'UTC'));

-- The number of the range that contains a latency. Below 50 ms, each latency has its own; each other range ends 2 % above its
-- start. `runs/stats/latencies.ts` has the inverse.
CREATE FUNCTION run_latency_range(latency INTEGER) RETURNS SMALLINT
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT (CASE
    WHEN latency < 50 THEN GREATEST(latency, 0)
    ELSE 50 + floor(ln(latency / 50::float8) / ln(1.02::float8))
  END)::smallint
$$;

-- The ranges and numbers of runs that are in `latencies`.
CREATE FUNCTION run_latency_counts(latencies BYTEA) RETURNS TABLE (range SMALLINT, runs INTEGER)
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT ((get_byte(latencies, at) << 8) + get_byte(latencies, at + 1))::smallint,
    (get_byte(latencies, at + 2) << 24) + (get_byte(latencies, at + 3) << 16)
      + (get_byte(latencies, at + 4) << 8) + get_byte(latencies, at + 5)
  FROM generate_series(0, length(latencies) - 6, 6) AS at
$$;

-- Notes what a change of a run changes in the totals, whichever version or statement makes it.
CREATE FUNCTION note_run_change() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  -- The deletion of a bot deletes its totals, and its runs after them.
  IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT 1 FROM bots WHERE id = OLD.bot_id) THEN
    RETURN NULL;
  END IF;
  IF TG_OP = 'UPDATE'
    AND (OLD.bot_id, OLD.created_at, OLD.kind, OLD.environment, OLD.channel, OLD.status, OLD.key_id, OLD.latency_ms,
        OLD.prompt_tokens, OLD.completion_tokens)
      IS NOT DISTINCT FROM (NEW.bot_id, NEW.created_at, NEW.kind, NEW.environment, NEW.channel, NEW.status, NEW.key_id,
        NEW.latency_ms, NEW.prompt_tokens, NEW.completion_tokens) THEN
    RETURN NULL;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    INSERT INTO run_total_changes
      (bot_id, created_at, kind, environment, channel, status, key_id, latency_ms, runs, tokens)
    VALUES (OLD.bot_id, OLD.created_at, OLD.kind, OLD.environment, OLD.channel, OLD.status, COALESCE(OLD.key_id, ''),
      OLD.latency_ms, -1, -(OLD.prompt_tokens::bigint + OLD.completion_tokens));
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO run_total_changes
      (bot_id, created_at, kind, environment, channel, status, key_id, latency_ms, runs, tokens)
    VALUES (NEW.bot_id, NEW.created_at, NEW.kind, NEW.environment, NEW.channel, NEW.status, COALESCE(NEW.key_id, ''),
      NEW.latency_ms, 1, NEW.prompt_tokens::bigint + NEW.completion_tokens);
  END IF;
  RETURN NULL;
END
$$;

-- Runs are counted when they are a minute old, see `runs/stats/count-runs.ts`. Chats of up to 50 seconds therefore call none of
-- the triggers. `clock_timestamp()`, because a transaction may be older than its changes. The conditions are short, because
-- PostgreSQL parses them in each statement.
CREATE TRIGGER run_totals_insert AFTER INSERT ON "runs" FOR EACH ROW
  WHEN (NEW.created_at < clock_timestamp() - interval '50 seconds')
  EXECUTE FUNCTION note_run_change();

CREATE TRIGGER run_totals_update
  AFTER UPDATE OF bot_id, created_at, kind, environment, channel, status, key_id, latency_ms, prompt_tokens, completion_tokens
  ON "runs" FOR EACH ROW
  WHEN (LEAST(OLD.created_at, NEW.created_at) < clock_timestamp() - interval '50 seconds')
  EXECUTE FUNCTION note_run_change();

CREATE TRIGGER run_totals_delete AFTER DELETE ON "runs" FOR EACH ROW
  WHEN (OLD.created_at < clock_timestamp() - interval '50 seconds')
  EXECUTE FUNCTION note_run_change();

-- Deletes the totals of a deleted bot. A process that counts runs meanwhile commits before, or counts nothing.
CREATE FUNCTION forget_run_totals() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  UPDATE run_totals_range SET version = version + 1;
  DELETE FROM run_totals WHERE bot_id = OLD.id;
  DELETE FROM run_total_changes WHERE bot_id = OLD.id;
  RETURN NULL;
END
$$;

CREATE TRIGGER run_totals_forget AFTER DELETE ON "bots" FOR EACH ROW
  EXECUTE FUNCTION forget_run_totals();
