import { invalidInput } from '../errors.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import { moment } from '../storage/moment.ts';

/** Totals of a bot's runs that were created in a period. */
export type Counts = {
  runs: number;
  failed: number;
  /** Prompt and completion tokens together. */
  tokens: number;
};

/** The totals of the part of one UTC day, `YYYY-MM-DD`, that lies in the period. */
export type DayCounts = Counts & { date: string };

/** The totals of the part of one UTC hour that lies in the period. */
export type HourCounts = Counts & { startedAt: Date };

export type BotStats = Counts & {
  /** The median latency of finished runs in milliseconds; `null` if there are none. */
  latencyP50: number | null;
  /** The 95th percentile. */
  latencyP95: number | null;
  /** All days of the period in order, including days without runs. */
  perDay: DayCounts[];
};

export type RunStats = {
  /**
   * Computes the statistics of each bot's runs that were created in a period.
   *
   * @param from inclusive.
   * @param to exclusive.
   * @returns a function from a bot's id to its statistics.
   * @throws GatewayError `invalid_request` if the period is empty, longer than 366 days, or outside the years 1 to 9999
   *   UTC.
   */
  sumUp(botIds: string[], from: Date, to: Date): Promise<(botId: string) => BotStats>;
  /**
   * Counts each bot's runs hour by hour, for a period that `sumUp` accepts.
   *
   * @returns a function from a bot's id to all hours of the period in order, including hours without runs.
   * @throws GatewayError `invalid_request` if the period is longer than 7 days.
   */
  sumUpByHour(botIds: string[], from: Date, to: Date): Promise<(botId: string) => HourCounts[]>;
};

type OfBot = { botId: string };

const DAY_MS = 24 * 60 * 60 * 1_000;
const MAX_DAYS = 366;
const HOUR_MS = 60 * 60 * 1_000;
/** Maximum length of a period that is counted hour by hour. */
const MAX_DAYS_BY_HOUR = 7;
/** The range of dates that `YYYY-MM-DD` can express. */
const CALENDAR = { from: Date.parse('0001-01-01'), to: Date.parse('+010000-01-01') };

export function createRunStats({ prisma }: { prisma: PrismaClient }): RunStats {
  return {
    async sumUp(botIds, from, to) {
      if (from.getTime() < CALENDAR.from) throw invalid('from', 'must not be before the year 1');
      if (to.getTime() > CALENDAR.to) throw invalid('to', 'must not be after the year 9999');
      if (to <= from) throw invalid('to', 'must be after from');
      if (to.getTime() - from.getTime() > MAX_DAYS * DAY_MS) {
        throw invalid('to', `must be at most ${MAX_DAYS} days after from`);
      }
      const since = moment(from.getTime());
      const until = moment(to.getTime());
      const [counted, latencies] = await Promise.all([
        prisma.$queryRaw<(DayCounts & OfBot)[]>`
          SELECT bot_id AS "botId",
            to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS date,
            count(*)::float8 AS runs,
            (count(*) FILTER (WHERE status = 'FAILED'))::float8 AS failed,
            sum(prompt_tokens::float8 + completion_tokens) AS tokens
          FROM runs WHERE bot_id = ANY(${botIds}) AND created_at >= ${since} AND created_at < ${until}
          GROUP BY 1, 2`,
        prisma.$queryRaw<({ p50: number; p95: number } & OfBot)[]>`
          SELECT bot_id AS "botId",
            percentile_cont(0.5) WITHIN GROUP (ORDER BY latency_ms) AS p50,
            percentile_cont(0.95) WITHIN GROUP (ORDER BY latency_ms) AS p95
          FROM runs WHERE bot_id = ANY(${botIds}) AND created_at >= ${since} AND created_at < ${until}
            AND latency_ms IS NOT NULL
          GROUP BY 1`,
      ]);
      const days = Map.groupBy(counted, ({ botId }) => botId);
      const latencyOf = new Map(latencies.map((latency) => [latency.botId, latency]));
      return (botId) => {
        const byDate = new Map(days.get(botId)?.map((day) => [day.date, day]));
        const perDay = datesOf(from, to).map(
          (date) => byDate.get(date) ?? { date, runs: 0, failed: 0, tokens: 0 },
        );
        return {
          runs: total(perDay, 'runs'),
          failed: total(perDay, 'failed'),
          tokens: total(perDay, 'tokens'),
          latencyP50: latencyOf.get(botId)?.p50 ?? null,
          latencyP95: latencyOf.get(botId)?.p95 ?? null,
          perDay,
        };
      };
    },

    async sumUpByHour(botIds, from, to) {
      if (to.getTime() - from.getTime() > MAX_DAYS_BY_HOUR * DAY_MS)
        throw invalid('to', `must be at most ${MAX_DAYS_BY_HOUR} days after from for perHour`);
      const counted = await prisma.$queryRaw<(HourCounts & OfBot)[]>`
        SELECT bot_id AS "botId",
          date_trunc('hour', created_at, 'UTC') AS "startedAt",
          count(*)::float8 AS runs,
          (count(*) FILTER (WHERE status = 'FAILED'))::float8 AS failed,
          sum(prompt_tokens::float8 + completion_tokens) AS tokens
        FROM runs WHERE bot_id = ANY(${botIds})
          AND created_at >= ${moment(from.getTime())} AND created_at < ${moment(to.getTime())}
        GROUP BY 1, 2`;
      const hours = Map.groupBy(counted, ({ botId }) => botId);
      return (botId) => {
        const byTime = new Map(hours.get(botId)?.map((hour) => [hour.startedAt.getTime(), hour]));
        return timesOf(from, to, HOUR_MS).map(
          (time) =>
            byTime.get(time) ?? { startedAt: new Date(time), runs: 0, failed: 0, tokens: 0 },
        );
      };
    },
  };
}

function invalid(path: 'from' | 'to', message: string) {
  return invalidInput([{ path, message }]);
}

/** The UTC days that overlap a period. */
function datesOf(from: Date, to: Date): string[] {
  return timesOf(from, to, DAY_MS).map((day) => new Date(day).toISOString().slice(0, 10));
}

/** The starts of the UTC days or hours that overlap a period. */
function timesOf(from: Date, to: Date, length: number): number[] {
  const times: number[] = [];
  const first = Math.floor(from.getTime() / length) * length;
  for (let time = first; time < to.getTime(); time += length) times.push(time);
  return times;
}

function total(days: Counts[], count: keyof Counts): number {
  return days.reduce((sum, day) => sum + day[count], 0);
}
