import { LRUCache } from 'lru-cache';
import type { RequestForm } from './form.ts';
import { joinRefusals } from './refusals.ts';

/** A server as one account uses it. An account learns nothing from the calls of another one. */
export type FormOwner = { accountId: string | undefined; baseUrl: string };

/** Remembers the forms that worked, for a day: at most 1,000, each for one model of one server and account. */
export type LearnedForms = {
  find(owner: FormOwner, model: string): RequestForm | undefined;
  learn(owner: FormOwner, model: string, form: RequestForm): void;
};

const MAX_ENTRIES = 1_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** @param now a clock in milliseconds, for tests. */
export function createLearnedForms({ now = () => performance.now() } = {}): LearnedForms {
  const forms = new LRUCache<string, RequestForm>({
    max: MAX_ENTRIES,
    ttl: DAY_MS,
    // Without a resolution, the cache would read the clock again only after a timer.
    ttlResolution: 0,
    perf: { now },
  });
  const keyOf = ({ accountId, baseUrl }: FormOwner, model: string) =>
    JSON.stringify([accountId, baseUrl, model]);
  return {
    find: (owner, model) => forms.get(keyOf(owner, model)),
    learn(owner, model, form) {
      const key = keyOf(owner, model);
      const { refusals = [] } = forms.get(key) ?? {};
      forms.set(key, { ...form, refusals: joinRefusals(refusals, form.refusals) });
    },
  };
}
