import { type Position, positionAt, rangeAt, type Source, type SourceRange } from './source.ts';

/** An error prevents a deploy; a warning does not. */
export type Severity = 'ERROR' | 'WARNING';

/** The closed list of codes with their severities. docs/language/reference.md explains each one. */
export const SEVERITIES = {
  'source-too-large': 'ERROR',
  'invalid-character': 'ERROR',
  'missing-header': 'ERROR',
  'unsupported-version': 'ERROR',
  'too-many-problems': 'ERROR',
  'too-many': 'ERROR',
  'too-many-references': 'ERROR',
  'too-long': 'ERROR',

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
  'unknown-tool': 'ERROR',
  'env-in-prompt': 'ERROR',
  'duplicate-setting': 'ERROR',
  'duplicate-name': 'ERROR',
  'reserved-name': 'ERROR',
  'wrong-order': 'ERROR',
  'unexpected-body': 'ERROR',

  'missing-prompt': 'ERROR',
  'missing-token': 'ERROR',
  'missing-request': 'ERROR',
  'missing-turn': 'ERROR',
  'missing-output': 'ERROR',
  'empty-text': 'ERROR',
  'out-of-range': 'ERROR',
  'invalid-url': 'ERROR',
  'invalid-header': 'ERROR',
  'invalid-parameter': 'ERROR',
  'invalid-chat': 'ERROR',
  'invalid-color': 'ERROR',
  'low-contrast': 'ERROR',
  'invalid-json': 'ERROR',

  'missing-description': 'WARNING',
  'undescribed-input': 'WARNING',
  'long-prompt': 'WARNING',
  'model-retired': 'WARNING',
  'plain-http': 'WARNING',
  'private-host': 'WARNING',
  'no-effect': 'WARNING',
  'secret-literal': 'WARNING',
  'env-unset': 'WARNING',
  'env-unused': 'WARNING',
} as const satisfies Record<string, Severity>;

export type DiagnosticCode = keyof typeof SEVERITIES;

/** One problem of a source, with its position. */
export type Diagnostic = Position & {
  severity: Severity;
  code: DiagnosticCode;
  /** One line, without position and code. It quotes no string values except names, because they may be secrets. */
  message: string;
};

/** `LINE:COLUMN message [code]`, the form of `parse_errors` and `warnings` in the HTTP API. */
export function formatDiagnostic({
  line,
  column,
  message,
  code,
}: Pick<Diagnostic, 'line' | 'column' | 'message'> & { code: string }): string {
  return `${line}:${column} ${message} [${code}]`;
}

/**
 * Records a problem in a range of the source. An expensive message, such as one with a suggestion, is a function,
 * which is called only if the problem is listed.
 */
export type Report = (code: DiagnosticCode, range: SourceRange, message: Message) => void;

type Message = string | (() => string);

/** Listed problems, errors first. One more diagnostic counts the rest. */
export const MAX_DIAGNOSTICS = 100;

/** Characters of a message. */
export const MAX_MESSAGE_LENGTH = 400;

/** Recorded problems of each severity. Further ones are only counted. */
const MAX_KEPT = 5_000;

/** The empty range at the beginning, for problems of a source as a whole. */
export const WHOLE_SOURCE: SourceRange = { start: 0, end: 0 };

/** A recorded problem. */
export type Problem = { code: DiagnosticCode; range: SourceRange; message: Message };

/** Collects problems in any order and lists them in source order. */
export function createDiagnostics(source: Source) {
  const problems: Record<Severity, Problem[]> = { ERROR: [], WARNING: [] };
  const dropped: Record<Severity, number> = { ERROR: 0, WARNING: 0 };

  const report: Report = (code, { start, end }, message) => {
    const severity = SEVERITIES[code];
    if (problems[severity].length < MAX_KEPT)
      problems[severity].push({ code, range: { start, end }, message });
    else dropped[severity] += 1;
  };

  /** @param more problems recorded elsewhere. */
  function list(more: readonly Problem[] = []): Diagnostic[] {
    const noted = [...problems.ERROR, ...problems.WARNING, ...more];
    const causes = mergeMissingQuotes(
      noted.sort((a, b) => a.range.start - b.range.start),
      source,
    );
    const isListed = listed(causes);
    const rest = causes.filter((cause) => !isListed.has(cause));
    const count = rest.length + dropped.ERROR + dropped.WARNING;
    if (count === 0) return causes.map(locate);
    const { start } = causes.at(-1)?.range ?? WHOLE_SOURCE;
    const severity = dropped.ERROR > 0 || rest.some(isError) ? 'ERROR' : 'WARNING';
    const message = `${count} more problems are not listed`;
    return [
      ...causes.filter((cause) => isListed.has(cause)).map(locate),
      { severity, code: 'too-many-problems', message, ...rangeAt(source, { start, end: start }) },
    ];
  }

  function locate({ code, range, message }: Problem): Diagnostic {
    const text = typeof message === 'string' ? message : message();
    return { severity: SEVERITIES[code], code, message: text, ...rangeAt(source, range) };
  }

  const hasErrors = (): boolean => problems.ERROR.length > 0;

  return { report, list, hasErrors };
}

const isError = ({ code }: Problem): boolean => SEVERITIES[code] === 'ERROR';

/** The problems that fit in the list: errors before warnings, each in source order. */
function listed(problems: readonly Problem[]): ReadonlySet<Problem> {
  const errors = problems.filter(isError);
  const warnings = problems.filter((problem) => !isError(problem));
  return new Set([...errors, ...warnings].slice(0, MAX_DIAGNOSTICS));
}

/** The problems that unquoted text causes. */
const OUT_OF_QUOTES: ReadonlySet<DiagnosticCode> = new Set([
  'unterminated-string',
  'syntax',
  'unknown-setting',
  'unknown-type',
  'invalid-name',
  'duplicate-name',
  'empty-text',
  'invalid-escape',
  'invalid-header',
  'invalid-template',
  'invalid-url',
  'unknown-root',
  'unknown-tool',
  'invalid-json',
]);

/**
 * A missing quote swaps the roles of all other quotes in its line: text is read as words, and the last quote opens a
 * string that is never closed. Such problems of one line are merged into one, at the first position.
 */
function mergeMissingQuotes(problems: readonly Problem[], source: Source): readonly Problem[] {
  const isOpen = ({ code }: Problem) => code === 'unterminated-string';
  const lineOf = ({ range }: Problem) => positionAt(source, range.start).line;
  const lines = new Set(problems.filter(isOpen).map(lineOf));
  if (lines.size === 0) return problems;
  const merged = new Set<number>();
  return problems.flatMap((problem) => {
    if (!OUT_OF_QUOTES.has(problem.code)) return [problem];
    const line = lineOf(problem);
    if (!lines.has(line)) return [problem];
    if (merged.has(line)) return [];
    merged.add(line);
    if (isOpen(problem)) return [problem];
    return [{ ...problem, code: 'unterminated-string', message: 'a " is missing in this line' }];
  });
}
