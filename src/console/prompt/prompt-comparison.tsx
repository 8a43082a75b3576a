import { RunPrompt, RunTrace } from '../../generated/operations/console.ts';
import { TextDiffView } from '../diff/text-diff-view.tsx';
import { count, signedChange } from '../numbers.ts';
import { each } from '../parts/each.ts';
import { Failed, Skeleton } from '../parts/state.tsx';
import { useServerQuery } from '../server/operations.ts';
import { firstTokensOf } from './first-tokens.ts';
import './prompt.css';
import { PromptPart } from './prompt-part.tsx';
import { PromptStack } from './prompt-stack.tsx';
import { type Band, bandsOf, KINDS, type PartKind, type Prompt, sharesOf } from './steps.ts';

/** A run whose prompt is compared, and the name of its side. */
type NamedRun = { id: string; name: string };

/** The first requests of two runs to the model: by part, and what differs in each part. */
export function PromptComparison({ left, right }: { left: NamedRun; right: NamedRun }) {
  const one = usePrompt(left);
  const other = usePrompt(right);
  const problem = one.problem ?? other.problem;
  const retry = () => {
    one.retry();
    other.retry();
  };
  if (problem) return <Failed problem={problem} onRetry={retry} />;
  if (!one.isRead || !other.isRead)
    return (
      <div aria-busy="true">
        <Skeleton height={160} />
      </div>
    );
  if (!one.prompt || !other.prompt)
    return (
      <p className="faint run-note">
        The prompt of {one.prompt ? right.name : left.name} was not stored, or was deleted.
      </p>
    );
  const sides = [sideOf(one.prompt, one.tokens), sideOf(other.prompt, other.tokens)] as const;
  const kinds = ORDER.filter((kind) => sides.some(({ byKind }) => byKind.has(kind)));
  return (
    <div className="prompt">
      {each([left, right], ({ name }, at) => (
        <div className="prompt-side">
          <p>
            <span>{name}</span>
            <span className="soft number">{totalText(sides, at)}</span>
          </p>
          <PromptStack bands={sides[at]?.bands ?? []} name={name} />
        </div>
      ))}
      {kinds.map((kind) => (
        <ComparedBand
          key={kind}
          kind={kind}
          left={sides[0].byKind.get(kind)}
          right={sides[1].byKind.get(kind)}
          names={[left.name, right.name]}
        />
      ))}
      <p className="faint run-note">
        The model server counts the tokens of a request, with the descriptions of tools. They are
        shared out by the length of the parts.
      </p>
    </div>
  );
}

const ORDER: PartKind[] = ['definition', 'memory', 'context', 'history', 'message'];

function usePrompt({ id }: NamedRun) {
  const read = useServerQuery(RunPrompt, { id });
  const trace = useServerQuery(RunTrace, { id });
  const run = trace.data?.run;
  return {
    prompt: read.data?.run?.prompt ?? undefined,
    isRead: read.data !== undefined && trace.data !== undefined,
    tokens: run ? firstTokensOf(run) : undefined,
    problem: read.data ? undefined : read.problem,
    retry: () => {
      read.retry();
      trace.retry();
    },
  };
}

/** All parts of one source, with their tokens. */
type Source = { parts: Band['parts']; tokens: number | undefined };

function sideOf(prompt: Prompt, tokens: number | undefined) {
  const bands = bandsOf(prompt);
  const shares = sharesOf(bands, tokens);
  const byKind = new Map<PartKind, Source>();
  for (const [at, { kind, parts }] of bands.entries()) {
    const before = byKind.get(kind);
    const share = shares[at];
    byKind.set(kind, {
      parts: [...(before?.parts ?? []), ...parts],
      tokens: share === undefined ? undefined : share + (before?.tokens ?? 0),
    });
  }
  return { bands, tokens, byKind };
}

function totalText(sides: readonly { tokens: number | undefined }[], at: number): string {
  const own = sides[at]?.tokens;
  const first = sides[0]?.tokens;
  if (own === undefined) return 'tokens unknown';
  const text = `${count(own)} tokens`;
  return at === 0 || first === undefined ? text : `${text}, ${changeOf(first, own)}`;
}

function changeOf(before: number, after: number): string {
  if (before === after) return 'the same';
  return signedChange(before, after, count);
}

/** The parts of one source on both sides: once if they are equal, else their difference. */
function ComparedBand({
  kind,
  left,
  right,
  names: [before, after],
}: {
  kind: PartKind;
  left: Source | undefined;
  right: Source | undefined;
  names: readonly [string, string];
}) {
  const { name, nothing } = KINDS[kind];
  const [one, two] = [textOf(left), textOf(right)];
  const tokens = right?.tokens ?? (right ? undefined : 0);
  const earlier = left?.tokens ?? (left ? undefined : 0);
  return (
    <section className={`prompt-band prompt-${kind}`} aria-label={`${name} in both prompts`}>
      <header>
        <h3>{name}</h3>
        <span className="soft number">
          {one === two
            ? `${tokens === undefined ? '' : `${count(tokens)} tokens, `}the same`
            : tokens !== undefined && earlier !== undefined
              ? `${count(tokens)} tokens, ${changeOf(earlier, tokens)}`
              : 'differs'}
        </span>
      </header>
      {one === two ? (
        <ul>
          {right?.parts.map((part) => (
            <PromptPart key={part.place} part={part} />
          ))}
        </ul>
      ) : (
        <TextDiffView
          label={name}
          before={one || nothing}
          after={two || nothing}
          beforeName={before}
          afterName={after}
        />
      )}
    </section>
  );
}

/** The text of all parts. One that the key may not read counts as equal. */
function textOf(source: Source | undefined): string {
  return (source?.parts ?? []).map(({ text }) => text ?? '').join('\n\n');
}
