import { useState } from 'react';
import { ChatPreview } from '../../hosted/chat-preview.tsx';
import { Segments } from '../../parts/segments.tsx';
import { useScope } from '../../server/viewer.ts';
import { type PreviewPlace, usePreview } from './use-preview.ts';
import type { WebChatBot } from './visitors-form.tsx';

const PLACES: { name: PreviewPlace; label: string }[] = [
  { name: 'production', label: 'Production' },
  { name: 'staging', label: 'Staging' },
  { name: 'draft', label: 'Studio' },
];

const MISSING: Record<PreviewPlace, string> = {
  production: 'Production has no chat page: its definition has no channel web.',
  staging: 'Staging has no definition with channel web.',
  draft: 'The Studio has no changed text with channel web in this browser.',
};

type Theme = 'light' | 'dark';

const THEMES: { name: Theme; label: string }[] = [
  { name: 'light', label: 'Light' },
  { name: 'dark', label: 'Dark' },
];

/** The chat page as visitors see it, or would see it. */
export function PreviewPanel({ bot }: { bot: WebChatBot }) {
  const [place, setPlace] = useState<PreviewPlace>('production');
  const [theme, setTheme] = useState<Theme>(() =>
    matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
  );
  const mayReadSources = useScope('DEPLOY');
  const page = usePreview(bot, place);
  return (
    <aside className="chat-settings-preview" aria-labelledby="chat-preview">
      <h2 id="chat-preview">Preview</h2>
      <div className="chat-settings-bar">
        <Segments<PreviewPlace>
          label="Definition of the preview"
          options={mayReadSources ? PLACES : PLACES.slice(0, 1)}
          current={place}
          onChange={setPlace}
        />
        <Segments<Theme> label="Theme" options={THEMES} current={theme} onChange={setTheme} />
      </div>
      <div className="chat-settings-frame" data-theme={theme}>
        {page ? (
          <ChatPreview page={{ ...page, logo: bot.logoUrl ?? undefined }} />
        ) : (
          <p className="soft">{MISSING[place]}</p>
        )}
      </div>
    </aside>
  );
}
