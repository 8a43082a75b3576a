-- The index with the entrance replaces it.
DROP INDEX "runs_filter_idx";
