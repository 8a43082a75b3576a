import { isRecord } from '../server/record.ts';

/** The tokens of the first request to the model, if its span has them. */
export function firstTokensOf({
  trace,
}: {
  trace: { spans: readonly { attributes: unknown }[] };
}): number | undefined {
  const counts = trace.spans.map(({ attributes }) =>
    isRecord(attributes) ? attributes['gen_ai.usage.input_tokens'] : undefined,
  );
  return counts.find((count) => typeof count === 'number');
}
