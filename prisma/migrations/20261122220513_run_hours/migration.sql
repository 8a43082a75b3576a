-- CreateTable
CREATE TABLE "run_hours" (
    "bot_id" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "kind" "RunKind" NOT NULL,
    "environment" "Environment" NOT NULL,
    "channel" "Channel" NOT NULL,
    "status" "RunStatus" NOT NULL,
    "runs" INTEGER NOT NULL,
    "tokens" BIGINT NOT NULL,
    "latencies" BYTEA NOT NULL,

    CONSTRAINT "run_hours_pkey" PRIMARY KEY ("bot_id","hour","kind","environment","channel","status")
);

-- Deletes the totals of the hours in which a run was inserted, changed or deleted. The lock makes it wait for a process
-- that stores totals, but not for other changes: "prlh" in ASCII, as in `runs/run-hours.ts`.
CREATE FUNCTION forget_run_hours() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(1886547048);
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM run_hours WHERE bot_id = OLD.bot_id AND hour = date_trunc('hour', OLD.created_at, 'UTC');
  END IF;
  IF TG_OP <> 'DELETE' THEN
    DELETE FROM run_hours WHERE bot_id = NEW.bot_id AND hour = date_trunc('hour', NEW.created_at, 'UTC');
  END IF;
  RETURN NULL;
END
$$;

-- A chat calls none of the triggers: totals exist only for runs that are finished and older than two hours.
CREATE TRIGGER run_hours_insert AFTER INSERT ON "runs" FOR EACH ROW
  WHEN (NEW.created_at < now() - interval '1 hour')
  EXECUTE FUNCTION forget_run_hours();

CREATE TRIGGER run_hours_update
  AFTER UPDATE OF bot_id, created_at, kind, environment, channel, status, latency_ms, prompt_tokens, completion_tokens
  ON "runs" FOR EACH ROW
  WHEN (OLD.status NOT IN ('QUEUED', 'RUNNING') OR OLD.created_at <> NEW.created_at OR OLD.bot_id <> NEW.bot_id)
  EXECUTE FUNCTION forget_run_hours();

CREATE TRIGGER run_hours_delete AFTER DELETE ON "runs" FOR EACH ROW
  WHEN (OLD.created_at < now() - interval '1 hour')
  EXECUTE FUNCTION forget_run_hours();
