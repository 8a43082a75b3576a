import { positionAt, type Source } from './source.ts';

/** Errors keep a definition from being deployed, warnings do not. */
export type Severity = 'ERROR' | 'WARNING';

/** Every code with the severity of its problems: the closed list. README.md says what each one means. */
export const SEVERITIES = {
  'source-too-large': 'ERROR',
  'invalid-character': 'ERROR',
  'missing-header': 'ERROR',
  'unsupported-version': 'ERROR',
  'too-many-problems': 'ERROR',

  syntax: 'ERROR',
  'unterminated-string': 'ERROR',
  'invalid-escape': 'ERROR',
  'invalid-name': 'ERROR',
  'unclosed-block': 'ERROR',
  'stray-brace': 'ERROR',
  'invalid-template': 'ERROR',

  'unknown-setting': 'ERROR',
  'unknown-channel': 'ERROR',
  'unknown-group': 'ERROR',
  'unknown-type': 'ERROR',
  'unknown-root': 'ERROR',
  'unknown-input': 'ERROR',
  'unknown-fact': 'ERROR',
  'env-in-prompt': 'ERROR',
  'duplicate-setting': 'ERROR',
  'duplicate-name': 'ERROR',
  'reserved-name': 'ERROR',
  'wrong-order': 'ERROR',

  'missing-prompt': 'ERROR',
  'missing-token': 'ERROR',
  'missing-request': 'ERROR',
  'empty-text': 'ERROR',
  'out-of-range': 'ERROR',
  'invalid-url': 'ERROR',
  'invalid-header': 'ERROR',

  'missing-description': 'WARNING',
  'undescribed-input': 'WARNING',
  'long-prompt': 'WARNING',
  'plain-http': 'WARNING',
  'secret-literal': 'WARNING',
  'env-unset': 'WARNING',
  'env-unused': 'WARNING',
} as const satisfies Record<string, Severity>;

export type DiagnosticCode = keyof typeof SEVERITIES;

/** One problem of a source. */
export type Diagnostic = {
  severity: Severity;
  code: DiagnosticCode;
  /** One line, without its position and code. Of strings it shows names only: any other text may be a secret. */
  message: string;
  /** From 1. A line ends at `\n`, `\r\n` or `\r`. */
  line: number;
  /** From 1, counted in UTF-16 code units as editors and JavaScript count; a byte order mark is not counted. */
  column: number;
};

/** `LINE:COLUMN message [code]`, the form of `parse_errors` and `warnings` in the HTTP API. */
export function formatDiagnostic({
  line,
  column,
  message,
  code,
}: Omit<Diagnostic, 'severity' | 'code'> & { code: string }): string {
  return `${line}:${column} ${message} [${code}]`;
}

/** Notes a problem at an offset of the source. */
export type Report = (code: DiagnosticCode, offset: number, message: string) => void;

/** More problems than this are not listed: a source with so many is no definition. */
export const MAX_DIAGNOSTICS = 1_000;

/** Collects problems in any order and lists them in that of the source. */
export function createDiagnostics(source: Source) {
  const problems: { code: DiagnosticCode; offset: number; message: string }[] = [];

  const report: Report = (code, offset, message) => {
    problems.push({ code, offset, message });
  };

  function list(): Diagnostic[] {
    const sorted = problems.toSorted((a, b) => a.offset - b.offset).map(locate);
    const causes = mergeMissingQuotes(sorted);
    const rest = causes.slice(MAX_DIAGNOSTICS);
    const [first] = rest;
    if (!first) return causes;
    const severity = rest.some((problem) => problem.severity === 'ERROR') ? 'ERROR' : 'WARNING';
    const message = `${rest.length} more problems from here on`;
    return [
      ...causes.slice(0, MAX_DIAGNOSTICS),
      { ...first, severity, code: 'too-many-problems', message },
    ];
  }

  function locate({ code, offset, message }: (typeof problems)[number]): Diagnostic {
    return { severity: SEVERITIES[code], code, message, ...positionAt(source, offset) };
  }

  /** Whether anything but warnings was noted so far. */
  function hasErrors(): boolean {
    return problems.some(({ code }) => SEVERITIES[code] === 'ERROR');
  }

  return { report, list, hasErrors };
}

/** What text without its quotes is taken for. */
const OUT_OF_QUOTES: ReadonlySet<DiagnosticCode> = new Set([
  'unterminated-string',
  'syntax',
  'unknown-setting',
  'unknown-type',
  'invalid-name',
  'duplicate-name',
]);

/**
 * Where a quote is left out, all other quotes of the line change sides: text is read as words, and the last quote
 * is found open. Of all that follows in the line one problem is left, where the first one is.
 */
function mergeMissingQuotes(problems: readonly Diagnostic[]): Diagnostic[] {
  const isOpen = ({ code }: Diagnostic) => code === 'unterminated-string';
  const lines = new Set(problems.filter(isOpen).map(({ line }) => line));
  const merged = new Set<number>();
  return problems.flatMap((problem) => {
    if (!lines.has(problem.line) || !OUT_OF_QUOTES.has(problem.code)) return [problem];
    if (merged.has(problem.line)) return [];
    merged.add(problem.line);
    if (isOpen(problem)) return [problem];
    return [{ ...problem, code: 'unterminated-string', message: 'a " is missing in this line' }];
  });
}
