/** A span as a step of the run. Times are milliseconds. */
export type SpanRow = {
  id: string;
  label: string;
  /** The subject of the step, such as the model of a call. */
  detail?: string | undefined;
  /** What failed, in short, such as an HTTP status. */
  failure?: string | undefined;
  /** The number of spans around this one. */
  depth: number;
  kind: 'run' | 'history' | 'memory' | 'context' | 'step' | 'model' | 'tool';
  /** From the start of the trace. */
  from: number;
  /** Absent while the span is not over. */
  ms?: number | undefined;
  hasFailed: boolean;
  attributes?: Record<string, unknown> | undefined;
};
