-- What active runs have emitted so far, in pieces that are only appended. The row of a run gets the whole at its end.
CREATE TABLE "run_progress" (
    "run_id" TEXT NOT NULL,
    "attempt" INTEGER NOT NULL,
    "from_seq" INTEGER NOT NULL,
    "response" TEXT NOT NULL,
    "events" JSONB NOT NULL,
    "event_times" INTEGER[],
    "spans" JSONB,

    CONSTRAINT "run_progress_pkey" PRIMARY KEY ("run_id", "attempt", "from_seq")
);

-- Its rows live for seconds, so that a share of the table says little.
ALTER TABLE "run_progress" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000);
