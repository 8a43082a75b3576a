/** One attempt at a run. Only the owner that started the attempt may finish it. */
export type BegunRun = { id: string; botId: string; ownerId: string; attempt: number };
