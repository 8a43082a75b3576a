-- The index of latency with tokens replaces it.
DROP INDEX "runs_latency_idx";
