import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createMetrics } from '../src/transport/metrics/metrics.ts';
import { readMetrics } from './helpers/metrics.ts';

const FILE = new URL('../docs/grafana-dashboard.json', import.meta.url);
const dashboard = z
  .object({
    panels: z.array(
      z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })).default([]) }),
    ),
    templating: z.object({
      list: z.array(z.object({ name: z.string(), definition: z.string().optional() })),
    }),
  })
  .parse(JSON.parse(readFileSync(FILE, 'utf8')));

/** The label that Prometheus adds to every sample. */
const OF_PROMETHEUS = 'instance';

const metrics = createMetrics();

/** Every series that Parley may report, with its labels. */
async function knownSeries(): Promise<Map<string, Set<string>>> {
  const usage = { seconds: 1, promptTokens: 1, completionTokens: 1 };
  metrics.observer.runEnded({ kind: 'CHAT', channel: 'API', status: 'COMPLETED', usage });
  metrics.observer.modelCalled('own', 1);
  metrics.observer.modelFailed('timeout');
  metrics.observer.toolCalled(1);
  metrics.observer.rateLimited();
  metrics.requestAnswered('/docs', 'GET', 200);
  const series = Map.groupBy(readMetrics(await metrics.render()), ({ name }) => name);
  const labels = [...series].map(([name, samples]): [string, Set<string>] => [
    name,
    new Set([OF_PROMETHEUS, ...samples.flatMap((sample) => Object.keys(sample.labels))]),
  ]);
  return new Map(labels);
}

/** The problems of a query: its syntax, or names that Parley does not report. */
function problemsOf(query: string, known: Map<string, Set<string>>): string[] {
  const text = query.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*');
  const problems: string[] = [];
  const metricsNamed: string[] = [];
  const labelsNamed: string[] = [];
  parser.parse(text).iterate({
    enter({ name, from, to, type, node }) {
      if (type.isError) problems.push(`syntax at ${from}: ${text.slice(from)}`);
      if (name === 'LabelName') labelsNamed.push(text.slice(from, to));
      if (name !== 'VectorSelector') return;
      metricsNamed.push(text.slice(from, node.getChild('Identifier')?.to ?? from));
    },
  });
  const labels = new Set(metricsNamed.flatMap((metric) => [...(known.get(metric) ?? [])]));
  return [
    ...problems,
    ...metricsNamed.flatMap((metric) => (known.has(metric) ? [] : `no metric ${metric}`)),
    ...labelsNamed.flatMap((label) => (labels.has(label) ? [] : `no label ${label}`)),
  ];
}

describe('the Grafana dashboard', () => {
  const queries = dashboard.panels.flatMap(({ title, targets }) =>
    targets.map(({ expr }) => ({ title, expr })),
  );

  test.each(queries)('queries series that Parley reports, in "$title": $expr', async ({ expr }) => {
    expect(problemsOf(expr, await knownSeries())).toEqual([]);
  });

  test('has a variable for the processes with values from a metric', async () => {
    const known = await knownSeries();
    const definitions = dashboard.templating.list.flatMap(({ definition }) => definition ?? []);
    expect(definitions).toHaveLength(1);
    for (const definition of definitions) {
      const [, metric = ''] = /^label_values\((\w+), instance\)$/.exec(definition) ?? [];
      expect([...known.keys()]).toContain(metric);
    }
  });

  test('shows every metric', async () => {
    const bases = [...(await knownSeries()).keys()].map((name) =>
      name.replace(/_(bucket|sum|count)$/, ''),
    );
    const all = queries.map(({ expr }) => expr).join('\n');
    expect(bases.filter((name) => !all.includes(name))).toEqual([]);
  });

  test.each([
    ['sum by (le (rate(parley_runs_total[5m]))', 'syntax'],
    ['rate(parley_run_total[5m])', 'no metric parley_run_total'],
    ['sum by (model) (rate(parley_runs_total[5m]))', 'no label model'],
    ['parley_runs_total{bot="x"}', 'no label bot'],
  ])('has a check that finds the mistake in %s', async (expr, problem) => {
    expect(problemsOf(expr, await knownSeries()).join('\n')).toContain(problem);
  });
});
