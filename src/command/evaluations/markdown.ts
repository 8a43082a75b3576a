import {
  type CaseResult,
  countsOf,
  type Evaluation,
  findingLine,
  findingsOf,
  titleOf,
} from '../cases/result.ts';

const VERDICTS = { PASSED: '✅', FAILED: '❌', DIVERGED: '❌', SKIPPED: '⚪' } as const;

/** Cases that are listed. A comment on a pull request has at most 65,536 characters. */
const MAX_LISTED = 50;
const MAX_TEXT = 500;

/** Writes an evaluation as Markdown, for a comment on a pull request. Cases that have not passed come first. */
export function toMarkdown(file: string, evaluation: Evaluation): string {
  const { results, repeat, promptTokens, completionTokens, note } = evaluation;
  const failed = results.filter(({ verdict }) => verdict !== 'PASSED');
  const listed = [...failed, ...results.filter(({ verdict }) => verdict === 'PASSED')];
  const rows = listed.slice(0, MAX_LISTED).map((result) => rowOf(file, result, repeat));
  const left = listed.length - rows.length;
  return [
    `### Tests of ${escaped(file)}: ${countsOf(evaluation)}`,
    '',
    ...(note === null ? [] : [escaped(note), '']),
    ...(rows.length > 0 ? ['| | Case | Result |', '|---|---|---|', ...rows] : []),
    ...(left > 0 ? [`| | ${left} more | |`] : []),
    '',
    `${promptTokens} tokens of prompts, ${completionTokens} of completions.`,
    '',
  ].join('\n');
}

function rowOf(file: string, result: CaseResult, repeat: number): string {
  const { verdict, passedAttempts } = result;
  const mark = verdict ? VERDICTS[verdict] : '';
  const share = repeat > 1 ? [`${passedAttempts} of ${repeat} attempts passed`] : [];
  const findings = findingsOf(result).map((finding) => findingLine(file, finding));
  const details = [...share, ...findings].map((text) => escaped(text.slice(0, MAX_TEXT)));
  return `| ${mark} | ${escaped(titleOf(result))} | ${details.join('<br>')} |`;
}

/** Text in a cell of a table, in which no character is markup. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_{}[\]()#+!|~@>-]/g, (character) => `\\${character}`);
}
