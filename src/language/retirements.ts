/** The announced end of a model. */
export type Retirement = {
  /** The first UTC day without the model: `YYYY-MM-DD`. */
  date: string;
  /** The model that the provider recommends in its place, if it is known. */
  successor?: string;
};

/**
 * The models of OpenAI that end, by date and successor. The date of a name also holds for its dated snapshots that are not listed.
 *
 * Source: https://developers.openai.com/api/docs/deprecations, looked up on 2026-11-24, and the list of deprecated models
 * in the package `openai` 7.55.
 */
const RETIREMENTS: readonly (Retirement & { names: readonly string[] })[] = [
  {
    date: '2026-10-23',
    successor: 'gpt-5.6-sol',
    names: ['gpt-4', 'gpt-4-turbo', 'gpt-4o-2024-05-13', 'o1', 'o3-mini'],
  },
  {
    date: '2026-10-23',
    successor: 'gpt-5.6-terra',
    names: ['gpt-3.5-turbo', 'o4-mini'],
  },
  { date: '2026-10-23', successor: 'gpt-5.6-luna', names: ['gpt-4.1-nano'] },
  { date: '2026-12-11', successor: 'gpt-6.1-sol', names: ['gpt-5', 'o3'] },
  { date: '2026-12-11', successor: 'gpt-6.1-terra', names: ['gpt-5-mini'] },
  { date: '2026-12-11', successor: 'gpt-6-luna', names: ['gpt-5-nano'] },
  {
    date: '2027-01-14',
    successor: 'gpt-6-luna',
    names: ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-4.1-mini'],
  },
  { date: '2027-04-01', names: ['gpt-5.1', 'gpt-5.4-nano'] },
];

/** The end of a dated snapshot's name: `-2025-04-14` or `-0613`. */
const SNAPSHOT = /-(?:\d{4}-\d{2}-\d{2}|\d{4})$/;

/**
 * Finds the announced end of a model.
 *
 * @param name as in a request, also with a provider before it: `openai/gpt-4o`.
 */
export function findRetirement(name: string): Retirement | undefined {
  const model = name.replace(/^openai\//, '');
  const find = (text: string) => RETIREMENTS.find(({ names }) => names.includes(text));
  return find(model) ?? find(model.replace(SNAPSHOT, ''));
}
