import { CodeBlock } from '../../../parts/copy.tsx';

/** Characters that are shown. The browser needs seconds to lay out a megabyte. */
const MAX_SHOWN = 20_000;

/** Code that may be long. A long one is cut, and copied whole. */
export function LongCode({ label, children: code }: { label: string; children: string }) {
  const left = code.length - MAX_SHOWN;
  return (
    <>
      <CodeBlock label={label} shown={left > 0 ? `${code.slice(0, MAX_SHOWN)}…` : undefined}>
        {code}
      </CodeBlock>
      {left > 0 && (
        <p className="faint">{left.toLocaleString('en')} more characters are not shown.</p>
      )}
    </>
  );
}
