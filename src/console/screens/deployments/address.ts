/** Deployments that a comparison has. */
const MAX_SELECTED = 2;

/** The address of a comparison of two deployments. */
export function comparisonAddress(botId: string, id: string, other: string): string {
  return `/bots/${botId}/deployments/${id}/compare/${other}`;
}

/** The deployments that an address selects for a comparison, in the order of their choice. */
export function selectedIn(search: URLSearchParams): string[] {
  const ids = (search.get('compare') ?? '').split(',').filter(Boolean);
  return [...new Set(ids)].slice(0, MAX_SELECTED);
}

/** The selection after a deployment was chosen, or chosen again. A third one takes the place of the first one. */
export function withChosen(selected: readonly string[], id: string): string[] {
  if (selected.includes(id)) return selected.filter((one) => one !== id);
  return [...selected, id].slice(-MAX_SELECTED);
}
