import { type ChangeEvent, useRef } from 'react';
import { ChangeLogo } from '../../../generated/operations/console.ts';
import { base64Of } from '../../base64.ts';
import { Button } from '../../parts/button.tsx';
import { toast } from '../../parts/toast.tsx';
import { useMutate } from '../../server/operations.ts';
import { detailFor } from '../../server/problem.ts';
import { lacks, useScope } from '../../server/viewer.ts';
import type { WebChatBot } from './visitors-form.tsx';

const MAX_BYTES = 32 * 1024;

/** The logo, which belongs to the bot, and what belongs to the definition. */
export function Appearance({ bot }: { bot: WebChatBot }) {
  return (
    <section aria-labelledby="chat-appearance">
      <h2 id="chat-appearance">Appearance</h2>
      <Logo bot={bot} />
      <p className="soft">
        The title, the accent, the welcome and the suggestions stand in <code>channel web</code> of
        the definition, so that a rollback restores them. <code>label</code> of a tool is what
        visitors see while it runs.
      </p>
    </section>
  );
}

function Logo({ bot: { id, logoUrl } }: { bot: WebChatBot }) {
  const mayChange = useScope('ADMIN');
  const input = useRef<HTMLInputElement>(null);
  const { isBusy, problem, run } = useMutate(ChangeLogo, ['Bot']);
  const change = async (logo: string | null) => {
    const { data } = await run({ id, logo });
    if (data?.updateBot) toast(logo === null ? 'Removed the logo.' : 'Saved the logo.');
  };
  const choose = async ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? [];
    // The same file may be chosen again after a change.
    target.value = '';
    if (!file) return;
    if (file.size > MAX_BYTES) return toast('The logo must not be larger than 32 KiB.');
    await change(base64Of(await file.arrayBuffer()));
  };
  const unavailable = !mayChange && lacks('ADMIN');
  const fault = problem && (detailFor(problem, 'input.logo') ?? problem.message);
  return (
    <div className="chat-settings-logo">
      {logoUrl ? (
        <img src={logoUrl} alt="The logo" width={48} height={48} />
      ) : (
        <span className="faint">No logo: the page shows the first letter of its title.</span>
      )}
      <Button isBusy={isBusy} unavailable={unavailable} onClick={() => input.current?.click()}>
        {logoUrl ? 'Replace the logo…' : 'Upload a logo…'}
      </Button>
      {logoUrl && (
        <Button unavailable={unavailable} onClick={() => void change(null)}>
          Remove
        </Button>
      )}
      <input
        ref={input}
        type="file"
        hidden
        aria-label="Logo"
        accept="image/svg+xml,image/png"
        onChange={(event) => void choose(event)}
      />
      <p className={fault ? 'field-error' : 'field-hint'} aria-live="polite">
        {fault
          ? `The logo ${fault}.`
          : 'SVG or PNG, at most 32 KiB, shown 32 pixels wide. Scripts and links are removed from an SVG.'}
      </p>
    </div>
  );
}
