import { CodeBlock } from '../../../parts/copy.tsx';
import { laidOut } from '../../../parts/laid-out.ts';

/** Characters of a body that are shown. */
const MOST_SHOWN = 20_000;

/** A body, with JSON laid out. A long one is cut, and copied whole. */
export function BodyText({ label, text }: { label: string; text: string }) {
  const pretty = laidOut(text);
  const left = pretty.length - MOST_SHOWN;
  return (
    <>
      <CodeBlock label={label} shown={left > 0 ? `${pretty.slice(0, MOST_SHOWN)}…` : undefined}>
        {pretty}
      </CodeBlock>
      {left > 0 && (
        <p className="faint">{left.toLocaleString('en')} more characters are not shown.</p>
      )}
    </>
  );
}
