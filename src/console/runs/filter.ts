import type {
  Channel,
  Entrance,
  Environment,
  ErrorCode,
  FeedbackRating,
  RunFilter,
  RunKind,
  RunStatus,
} from '../../generated/operations/console.ts';
import { ENVIRONMENTS } from '../../vocabulary/environments.ts';
import { isSessionId } from '../chat/session-id.ts';
import { namesOf, readName } from '../frame/parameter.ts';
import { CHANNELS, ENTRANCES, KINDS, RATINGS, RUN_ERRORS, STATUSES } from './labels.ts';

/** The conditions of the address by the names of their parameters, which the REST API has too. */
export const FILTER_NAMES = [
  'text',
  'status',
  'range',
  'date',
  'from',
  'to',
  'user',
  'environment',
  'channel',
  'entrance',
  'kind',
  'feedback',
  'deployment_id',
  'model',
  'error_code',
  'min_latency_ms',
  'min_tokens',
] as const;

export type FilterName = (typeof FILTER_NAMES)[number];

/** The conditions of the filter bar. The switch of the environment has the other one. */
const BAR_NAMES = FILTER_NAMES.filter((name) => name !== 'environment');

/** Changes to the parameters of an address. An empty one is removed. */
export type FilterChange = Partial<Record<FilterName, string>>;

/** Removes the conditions of the filter bar from an address. */
export const NO_FILTERS: FilterChange = Object.fromEntries(BAR_NAMES.map((name) => [name, '']));

/** Periods that end now, in hours. */
export const RANGES: Record<string, { label: string; hours: number }> = {
  '1h': { label: 'last hour', hours: 1 },
  '24h': { label: 'last 24 hours', hours: 24 },
  '7d': { label: 'last 7 days', hours: 7 * 24 },
  '30d': { label: 'last 30 days', hours: 30 * 24 },
};

/** The filters of an address. */
export type Filters = {
  /** The parameters of the address. */
  values: Partial<Record<FilterName, string>>;
  /** The problem of each invalid parameter, which then filters nothing. */
  faults: Partial<Record<FilterName, string>>;
  /** The filter of the request, without the period that ends now. */
  filter: RunFilter;
};

/** The number of conditions of the filter bar. */
export function countFilters({ values }: Filters): number {
  return BAR_NAMES.filter((name) => values[name]).length;
}

type Reading = RunFilter | { fault: string };

const READERS: Record<FilterName, (text: string) => Reading> = {
  text: (text) => {
    if (text.length > 256) return fault('The text is longer than 256 characters.');
    if (!/[\p{L}\p{N}]/u.test(text)) return fault('The text needs a letter or a digit.');
    return storable(text, (text) => ({ text }));
  },
  status: (text) => oneOf(text, STATUSES, (status: RunStatus) => ({ status: [status] })),
  range: (text) =>
    Object.hasOwn(RANGES, text) ? {} : fault(`The range must be one of ${namesOf(RANGES)}.`),
  date: (text) =>
    isDay(text) ? { date: text } : fault('The date must be a UTC day such as 2026-11-21.'),
  from: (text) => moment(text, (from) => ({ from })),
  to: (text) => moment(text, (to) => ({ to })),
  user: (text) =>
    isSessionId(text)
      ? { user: text }
      : fault('The user must have 1 to 256 visible characters without spaces.'),
  environment: (text) => oneOf(text, ENVIRONMENTS, (environment: Environment) => ({ environment })),
  channel: (text) => oneOf(text, CHANNELS, (channel: Channel) => ({ channel: [channel] })),
  entrance: (text) => oneOf(text, ENTRANCES, (entrance: Entrance) => ({ entrance: [entrance] })),
  kind: (text) => oneOf(text, KINDS, (kind: RunKind) => ({ kind })),
  feedback: (text) => oneOf(text, RATINGS, (feedback: FeedbackRating) => ({ feedback })),
  deployment_id: (text) =>
    text.startsWith('dep_')
      ? storable(text, (deploymentId) => ({ deploymentId }))
      : fault('The id of a deployment must begin with dep_.'),
  model: (text) => storable(text, (model) => ({ model })),
  error_code: (text) => {
    const code = RUN_ERRORS.find((one) => one === text.toUpperCase()) satisfies
      | ErrorCode
      | undefined;
    return code
      ? { errorCode: [code] }
      : fault(`The error must be one of ${RUN_ERRORS.join(', ').toLowerCase()}.`);
  },
  min_latency_ms: (text) => count(text, (minLatencyMs) => ({ minLatencyMs })),
  min_tokens: (text) => count(text, (minTokens) => ({ minTokens })),
};

export function readFilters(search: URLSearchParams): Filters {
  const read: Filters = { values: {}, faults: {}, filter: {} };
  for (const name of FILTER_NAMES) {
    const value = search.get(name);
    if (!value) continue;
    read.values[name] = value;
    const reading = READERS[name](value);
    if ('fault' in reading) read.faults[name] = reading.fault;
    else Object.assign(read.filter, reading);
  }
  const { from, to } = read.filter;
  if (from && to && from >= to) {
    read.faults.to = 'The end must be after the start.';
    delete read.filter.to;
  }
  const fixed = (['date', 'from', 'to'] as const).find((name) => read.filter[name]);
  if (read.values.range && fixed) read.faults.range ??= `A range cannot be combined with ${fixed}.`;
  return read;
}

/** The address with other conditions, an empty one removed, and all its other parameters. */
export function withFilters(search: URLSearchParams, change: FilterChange): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const [name, value] of Object.entries(change)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return next;
}

/** The address of a run's page, which leads on to the next runs with the same filters. */
export function runAddress(id: string, search: URLSearchParams): string {
  const kept = [...search].filter(([name]) => FILTER_NAMES.some((one) => one === name));
  const filters = new URLSearchParams(kept).toString();
  return `/runs/${id}${filters && `?${filters}`}`;
}

/** The filter with the start of the period that ends now. */
export function filterAt({ filter, values, faults }: Filters, now: number): RunFilter {
  const range = faults.range ? undefined : RANGES[values.range ?? ''];
  if (!range) return filter;
  return { ...filter, from: new Date(now - range.hours * 3_600_000).toISOString() };
}

function fault(text: string): { fault: string } {
  return { fault: text };
}

/** Reads a text that the server can store. */
function storable(text: string, toFilter: (text: string) => RunFilter): Reading {
  return text.isWellFormed() && !text.includes('\u0000')
    ? toFilter(text)
    : fault('The value has U+0000 or half of a surrogate pair.');
}

function oneOf<Name extends string>(
  text: string,
  all: Record<Name, unknown>,
  toFilter: (name: Name) => RunFilter,
): Reading {
  const reading = readName(text, all);
  return 'fault' in reading ? reading : toFilter(reading.name);
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && toIso(`${text}T00:00:00Z`)?.startsWith(text) === true;
}

const ZONED = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

function moment(text: string, toFilter: (iso: string) => RunFilter): Reading {
  const iso = ZONED.test(text) ? toIso(text) : undefined;
  return iso
    ? toFilter(iso)
    : fault('The time must have a zone, such as 2026-11-21T10:00:00Z, or be a day.');
}

/** Reads a time of the years 1000 to 9999. The server refuses some others. */
function toIso(text: string): string | undefined {
  const time = Date.parse(text);
  const iso = Number.isNaN(time) ? '' : new Date(time).toISOString();
  return /^[1-9]\d{3}-/.test(iso) ? iso : undefined;
}

function count(text: string, toFilter: (number: number) => RunFilter): Reading {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= 2_147_483_647
    ? toFilter(number)
    : fault('The minimum must be a whole number from 1.');
}
