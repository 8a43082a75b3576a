import { TextDiffView } from '../../diff/text-diff-view.tsx';
import { isRecord } from '../../server/record.ts';
import { RunText } from '../run/run-text.tsx';
import type { ShownRun } from '../run/use-run.ts';

const NAMES = { beforeName: 'first run', afterName: 'second run' };

/** The message and the reply of both runs: once if they are equal, else their difference. */
export function Texts({ one, two }: { one: ShownRun; two: ShownRun }) {
  return (
    <>
      <Both label="Asked" one={one.input} two={two.input} />
      <Both label="Context" one={jsonOf(one.context)} two={jsonOf(two.context)} />
      <Both label="Replied" one={one.response ?? ''} two={two.response ?? ''} isMarkdown />
    </>
  );
}

function Both({
  label,
  one,
  two,
  isMarkdown = false,
}: {
  label: string;
  one: string;
  two: string;
  isMarkdown?: boolean;
}) {
  if (one === two)
    return one === '' ? null : (
      <RunText title={`${label}, the same in both`} text={one} isMarkdown={isMarkdown} />
    );
  return <TextDiffView label={label} before={one} after={two} {...NAMES} />;
}

function jsonOf(context: unknown): string {
  return isRecord(context) ? JSON.stringify(context, null, 2) : '';
}
