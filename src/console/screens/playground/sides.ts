import { DEFAULT_ENVIRONMENT, type Environment } from '../../../vocabulary/environments.ts';
import { toLowerCase } from '../../../vocabulary/names.ts';

/** What answers on one side of a comparison. */
export type SideChoice =
  | { kind: 'environment'; environment: Environment }
  /** The text of the Studio for an environment, as this browser keeps it. */
  | { kind: 'draft'; environment: Environment }
  | { kind: 'deployment'; id: string };

const DRAFT = 'draft';
const STAGING_DRAFT = 'staging-draft';

const PRODUCTION: SideChoice = { kind: 'environment', environment: 'PRODUCTION' };
const STAGING: SideChoice = { kind: 'environment', environment: 'STAGING' };

/** The name of a choice in an address. */
export function nameOf(choice: SideChoice): string {
  if (choice.kind === 'deployment') return choice.id;
  if (choice.kind === 'environment') return toLowerCase(choice.environment);
  return choice.environment === DEFAULT_ENVIRONMENT ? DRAFT : STAGING_DRAFT;
}

/** Reads the name of a choice. */
export function choiceOf(name: string): SideChoice | undefined {
  if (name === 'production') return PRODUCTION;
  if (name === 'staging') return STAGING;
  if (name === DRAFT) return { kind: 'draft', environment: 'PRODUCTION' };
  if (name === STAGING_DRAFT) return { kind: 'draft', environment: 'STAGING' };
  return /^dep_\w{1,64}$/.test(name) ? { kind: 'deployment', id: name } : undefined;
}

/** The sides of a comparison, with the problems of the names that are none. */
export type Sides = {
  left: SideChoice;
  right: SideChoice;
  faults: { left?: string; right?: string };
};

/** Reads the sides of an address: production and staging by default, and always two different ones. */
export function sidesIn(search: URLSearchParams): Sides {
  const names = { left: search.get('left') ?? '', right: search.get('right') ?? '' };
  const faults: Sides['faults'] = {};
  const read = (at: 'left' | 'right') => {
    const choice = choiceOf(names[at]);
    if (names[at] && !choice) faults[at] = `“${names[at].slice(0, 40)}” ${RULE}`;
    return choice;
  };
  const left = read('left') ?? (nameIs(read('right'), 'production') ? STAGING : PRODUCTION);
  const right = read('right');
  if (right && nameOf(right) === nameOf(left)) faults.right = 'is the same as the left side.';
  const other = nameIs(left, 'staging') ? PRODUCTION : STAGING;
  return { left, right: right && !faults.right ? right : other, faults };
}

const RULE =
  'is not production, staging, draft, staging-draft or the id of a deployment of this bot.';

function nameIs(choice: SideChoice | undefined, name: string): boolean {
  return choice !== undefined && nameOf(choice) === name;
}
