import { RunPrompt as ReadPrompt } from '../../../../generated/operations/console.ts';
import { Button } from '../../../parts/button.tsx';
import { useCopy } from '../../../parts/copy.tsx';
import { Failed, Skeleton } from '../../../parts/state.tsx';
import { isActive } from '../../../runs/labels.ts';
import { useServerQuery } from '../../../server/operations.ts';
import type { ShownRun } from '../use-run.ts';
import './prompt.css';
import { PromptPart } from './prompt-part.tsx';
import { type Prompt, promptText, stepsOf } from './steps.ts';

/** The first request of the run to the model, by the steps that added its parts. */
export function RunPrompt({ run: { id, status } }: { run: ShownRun }) {
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
  return prompt ? <Parts prompt={prompt} /> : <NoPrompt />;
}

function Parts({ prompt }: { prompt: Prompt }) {
  const [isCopied, copy] = useCopy(() => promptText(prompt));
  return (
    <div className="prompt">
      {!prompt.complete && (
        <p className="run-notice">
          Not complete: a part is no longer stored. History is deleted with its runs, and facts of
          more than 64 KiB are not stored.
        </p>
      )}
      {stepsOf(prompt).map(({ step, name, nothing, parts }) => (
        <section key={step} aria-label={name}>
          <h3>{name}</h3>
          {parts.length === 0 ? (
            <p className="faint run-note">{nothing}</p>
          ) : (
            <ul>
              {parts.map((part) => (
                <PromptPart key={part.place} part={part} />
              ))}
            </ul>
          )}
        </section>
      ))}
      <p className="prompt-foot">
        <Button icon={isCopied ? 'check' : 'copy'} onClick={copy}>
          Copy the prompt
        </Button>
        <span className="faint">
          The first request to the model. Results of tools follow in the trace.
        </span>
      </p>
    </div>
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
