import { type Evaluation, findingLine, findingsOf, titleOf } from '../cases/result.ts';

/** Writes an evaluation as JUnit XML, which CI systems read. */
export function toJUnit(file: string, { cases, failed, diverged, skipped, results }: Evaluation) {
  const attributes = `name="${attribute(file)}" tests="${cases}" failures="${failed + diverged}" skipped="${skipped}"`;
  const lines = results.map((result) => {
    const head = `    <testcase classname="${attribute(file)}" name="${attribute(titleOf(result))}" line="${result.line}"`;
    const { verdict } = result;
    if (verdict === 'PASSED') return `${head}/>`;
    const texts = findingsOf(result).map((finding) => findingLine(file, finding));
    const message = attribute(texts.join('\n') || 'not run');
    const kind = verdict === 'FAILED' || verdict === 'DIVERGED' ? 'failure' : 'skipped';
    return `${head}>\n      <${kind} message="${message}"/>\n    </testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite ${attributes}>`,
    ...lines,
    '  </testsuite>',
    '</testsuites>\n',
  ].join('\n');
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
};

/** Text for an attribute. XML has no form for other control characters. */
function attribute(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, ' ')
    .replaceAll(/[&<>"\n]/g, (character) => ENTITIES[character] ?? character);
}
