/** The largest number that a count of runs returns. It is apart from the tables of runs, which would weigh on the console. */
export const MAX_COUNTED_RUNS = 1_000;
