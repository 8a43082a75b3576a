/** One line of Prometheus' text format, with its labels. */
export type Sample = { name: string; labels: Record<string, string>; value: number };

/** Parses Prometheus' text format. Throws on any other line. */
export function readMetrics(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    if (line === '' || line.startsWith('#')) return [];
    const [, name = '', labels = '', value = ''] =
      /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? fail(line);
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)];
    return {
      name,
      labels: Object.fromEntries(pairs.map(([, label, content]) => [label, content])),
      value: Number(value),
    };
  });
}

function fail(line: string): never {
  throw new Error(`Not a sample: ${line}`);
}

/** The value of a sample; 0 if it does not exist yet. */
export function sampleOf(samples: Sample[], name: string, labels: Record<string, string> = {}) {
  const found = samples.find(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([label, content]) => sample.labels[label] === content),
  );
  return found?.value ?? 0;
}
