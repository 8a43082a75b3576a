/** A span as a row of a waterfall. Times are milliseconds. */
export type SpanRow = {
  id: string;
  label: string;
  /** The subject of the span, such as the name of a tool. */
  detail?: string | undefined;
  /** The number of spans around this one. */
  depth: number;
  kind: 'step' | 'model' | 'tool';
  /** From the start of the trace. */
  from: number;
  /** Absent while the span is not over. */
  ms?: number | undefined;
  hasFailed: boolean;
  attributes?: Record<string, unknown> | undefined;
};
