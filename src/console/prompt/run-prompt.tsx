import { useState } from 'react';
import { RunPrompt as ReadPrompt, type RunStatus } from '../../generated/operations/console.ts';
import { Button } from '../parts/button.tsx';
import { useCopy } from '../parts/copy.tsx';
import { TextField } from '../parts/field.tsx';
import { Failed, Skeleton } from '../parts/state.tsx';
import { isActive } from '../runs/labels.ts';
import { useServerQuery } from '../server/operations.ts';

import './prompt.css';
import { PromptPart } from './prompt-part.tsx';
import { PromptStack, percent } from './prompt-stack.tsx';
import {
  type Band,
  bandsOf,
  KINDS,
  type PartKind,
  type Prompt,
  promptText,
  sharesOf,
} from './steps.ts';

type PromptProps = {
  run: { id: string; status: RunStatus };
  /** Tokens of the request, as the model server counted them. */
  tokens?: number | undefined;
  /** Shows the parts of these sources alone. */
  kinds?: readonly PartKind[] | undefined;
};

/** The first request of the run to the model, by the sources of its parts in the order in which the model reads them. */
export function RunPrompt({ run: { id, status }, tokens, kinds }: PromptProps) {
  const isOpen = isActive(status);
  const { data, problem, retry } = useServerQuery(ReadPrompt, { id }, { pause: isOpen });
  if (isOpen) return <p className="faint run-note">The prompt is stored when the run is over.</p>;
  if (problem && !data) return <Failed problem={problem} onRetry={retry} />;
  if (!data)
    return (
      <div aria-busy="true">
        <Skeleton height={160} />
      </div>
    );
  const prompt = data.run?.prompt;
  if (!prompt) return <NoPrompt />;
  return kinds ? <Some prompt={prompt} kinds={kinds} /> : <Whole prompt={prompt} tokens={tokens} />;
}

/** The parts of some sources. */
function Some({ prompt, kinds }: { prompt: Prompt; kinds: readonly PartKind[] }) {
  const bands = bandsOf(prompt).filter(({ kind }) => kinds.includes(kind));
  return (
    <div className="prompt">
      {!prompt.complete && <Incomplete />}
      {bands.map((band) => (
        <BandView key={band.parts[0]?.place} band={band} tokens={undefined} share={undefined} />
      ))}
      {bands.length === 0 &&
        kinds.map((kind) => (
          <p key={kind} className="faint run-note">
            {KINDS[kind].nothing}
          </p>
        ))}
    </div>
  );
}

function Whole({ prompt, tokens }: { prompt: Prompt; tokens: number | undefined }) {
  const [isCopied, copy] = useCopy(() => promptText(prompt));
  const [search, setSearch] = useState('');
  const bands = bandsOf(prompt);
  const shares = sharesOf(bands, tokens);
  const total = bands.reduce((sum, { length = 0 }) => sum + length, 0);
  const wanted = search.trim().toLowerCase();
  const isFound = (text: string | null) => text?.toLowerCase().includes(wanted) ?? false;
  const shown = bands.flatMap((band, index) => {
    const parts = wanted ? band.parts.filter(({ text }) => isFound(text)) : band.parts;
    return parts.length > 0 ? [{ band: { ...band, parts }, tokens: shares[index] }] : [];
  });
  return (
    <div className="prompt">
      {!prompt.complete && <Incomplete />}
      <PromptStack bands={bands} name="Parts of the prompt" />
      <TextField
        label="Find in the prompt"
        type="search"
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      {shown.map(({ band, tokens }) => (
        <BandView
          key={`${band.parts[0]?.place} ${wanted !== ''}`}
          band={band}
          tokens={tokens}
          share={band.length === undefined || total === 0 ? undefined : band.length / total}
          isFound={wanted !== ''}
        />
      ))}
      {shown.length === 0 && <p className="faint run-note">No part has this text.</p>}
      <p className="prompt-foot">
        <Button icon={isCopied ? 'check' : 'copy'} onClick={copy}>
          Copy the prompt
        </Button>
        <span className="faint">
          {shares.some((share) => share !== undefined)
            ? 'The model server counts the tokens of the request, with the descriptions of tools. They are shared out by the length of the parts.'
            : 'The first request to the model. Later requests also have the results of tools.'}
        </span>
      </p>
    </div>
  );
}

/** The parts of one source. */
function BandView({
  band: { kind, parts },
  tokens,
  share,
  isFound = false,
}: {
  band: Band;
  tokens: number | undefined;
  share: number | undefined;
  /** Whether the parts are the ones that a search found, which start unfolded. */
  isFound?: boolean;
}) {
  const { name } = KINDS[kind];
  return (
    <section className={`prompt-band prompt-${kind}`} aria-label={`${name} in the prompt`}>
      <header>
        <h3>{name}</h3>
        <span className="soft number">
          {[
            tokens !== undefined && `${tokens.toLocaleString('en')} tokens`,
            share !== undefined && percent(share),
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </header>
      <ul>
        {parts.map((part) => (
          <PromptPart key={part.place} part={part} isFound={isFound} />
        ))}
      </ul>
    </section>
  );
}

function Incomplete() {
  return (
    <p className="run-notice">
      Not complete: a part is no longer stored. History is deleted with its runs, and facts of more
      than 64 KiB are not stored.
    </p>
  );
}

function NoPrompt() {
  return (
    <div className="run-note faint">
      <p>The prompt of this run was not stored, or was deleted.</p>
      <p>
        The server deletes prompts after 30 days, or after the days of{' '}
        <code>PARLEY_PROMPT_DAYS</code>, and when a session is forgotten. A run that ended before
        its call of the model has none.
      </p>
    </div>
  );
}
