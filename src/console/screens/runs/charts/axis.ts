import type { Bucket } from './buckets.ts';
import { bucketMs, type Period } from './period.ts';

/** The labels of the time axis at most. */
const MOST_LABELS = 4;

/** A label needs this share of the width to its right. */
const ROOM = 0.14;

/** A place on the time axis. */
export type Tick = {
  /** From 0, the start of the period, to 1. */
  at: number;
  label: string;
};

/** The end of an axis from 0: the smallest round number from a value on, with a round half. */
export function roundUp(value: number): number {
  const unit = 10 ** Math.max(0, Math.ceil(Math.log10(Math.max(1, value))) - 1);
  const step = [2, 4, 6, 8, 10].find((one) => one * unit >= value) ?? 10;
  return step * unit;
}

/** A number on an axis, in few characters. */
export function shortCount(value: number): string {
  return value.toLocaleString('en', { notation: 'compact', maximumFractionDigits: 1 });
}

const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const dayAndTime = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

const DAY_MS = 86_400_000;

/** The labels of the time axis. @param now in milliseconds since the epoch. */
export function timeTicks(buckets: Bucket[], period: Period, now: number): Tick[] {
  const isShort = period.to - period.from <= DAY_MS + bucketMs(period);
  const format = period.byHour ? (isShort ? time : dayAndTime) : day;
  const step = Math.max(1, Math.ceil(buckets.length / MOST_LABELS));
  const ends = period.to >= now - bucketMs(period);
  const ticks = buckets
    .map(({ from }, index) => ({ at: index / buckets.length, label: format.format(from) }))
    .filter(({ at }, index) => index % step === 0 && at <= 1 - ROOM * (ends ? 2 : 1));
  return ends && buckets.length > 0 ? [...ticks, { at: 1, label: 'now' }] : ticks;
}

/** The deployments of the period on the time axis. Of two that are close, the later one has the label. */
export function deploymentTicks(
  deployments: readonly { version: number | null; deployedAt: string | null }[],
  buckets: Bucket[],
): Tick[] {
  const [first, last] = [buckets[0], buckets.at(-1)];
  if (!first || !last) return [];
  const found = deployments.flatMap(({ version, deployedAt }): Tick[] => {
    const at = deployedAt && (Date.parse(deployedAt) - first.from) / (last.to - first.from);
    return at && at >= 0 && at <= 1 ? [{ at, label: version === null ? '' : `v${version}` }] : [];
  });
  const inOrder = found.toSorted((one, other) => one.at - other.at);
  return inOrder.map((tick, index) => {
    const next = inOrder[index + 1];
    return next && next.at - tick.at < ROOM ? { ...tick, label: '' } : tick;
  });
}
