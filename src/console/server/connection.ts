import { createStore } from './store.ts';

/** Whether the server answers. If it does not, the time of the next request, in milliseconds since the epoch. */
export type Connection = { isAway: false } | { isAway: true; nextTry: number };

const HERE: Connection = { isAway: false };
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

export const connection = createStore<Connection>(HERE);

/** Counts the returns of the server. Data that was read before one may be out of date. */
export const returns = createStore(0);

let wait = FIRST_WAIT_MS;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Notes that a request got no answer. From then on the server is asked until it answers, with growing pauses. */
export function noteAway(): void {
  if (!connection.get().isAway) schedule();
}

/** Notes that a request got an answer. */
export function noteHere(): void {
  if (!connection.get().isAway) return;
  clearTimeout(timer);
  wait = FIRST_WAIT_MS;
  connection.set(HERE);
  returns.set(returns.get() + 1);
}

/** Asks the server at once. */
export async function tryNow(): Promise<void> {
  clearTimeout(timer);
  const answers = await fetch('/healthz', { signal: AbortSignal.timeout(5_000) })
    .then(({ ok }) => ok)
    .catch(() => false);
  if (answers) noteHere();
  else schedule();
}

/** Waits until the server answers, or until the signal is aborted. */
export function untilHere(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (connection.get().isAway && !signal.aborted) return;
      unsubscribe();
      signal.removeEventListener('abort', check);
      resolve();
    };
    const unsubscribe = connection.subscribe(check);
    signal.addEventListener('abort', check);
    check();
  });
}

function schedule(): void {
  connection.set({ isAway: true, nextTry: Date.now() + wait });
  timer = setTimeout(tryNow, wait);
  wait = Math.min(wait * 2, LONGEST_WAIT_MS);
}
