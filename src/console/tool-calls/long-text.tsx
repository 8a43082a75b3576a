import { CodeBlock } from '../parts/copy.tsx';
import { indentedJson } from '../parts/indented-json.ts';

/** Characters of a text that show. The whole can be copied. */
const MAX_SHOWN = 4_000;

/** A text of a tool call: JSON on indented lines, and the beginning of a long text. */
export function LongText({ label, text }: { label: string; text: string }) {
  const isLong = text.length > MAX_SHOWN;
  return (
    <CodeBlock label={label} shown={isLong ? `${text.slice(0, MAX_SHOWN)}…` : undefined}>
      {isLong ? text : indentedJson(text)}
    </CodeBlock>
  );
}
