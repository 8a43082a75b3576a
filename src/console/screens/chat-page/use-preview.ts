import { useEffect, useState } from 'react';
import type { ChatPageTexts } from '../../../language/chat-page.ts';
import { useRunning } from '../../deploy/use-running.ts';
import { newestText } from '../../drafts/stored-text.ts';
import { useViewer } from '../../server/viewer.ts';
import type { WebChatBot } from './visitors-form.tsx';

/** Where the definition of a preview is from. */
export type PreviewPlace = 'production' | 'staging' | 'draft';

/** The texts of the chat page of a place. The text in the Studio is followed while another tab changes it. */
export function usePreview(
  { id, chatPage }: WebChatBot,
  place: PreviewPlace,
): Omit<ChatPageTexts, 'name'> | undefined {
  const { running } = useRunning(id, 'STAGING');
  const draft = useDraft(id);
  const source = place === 'staging' ? running?.source : draft;
  const read = useTexts(place === 'production' ? undefined : (source ?? undefined));
  if (place !== 'production') return read;
  return chatPage
    ? { ...chatPage, accent: chatPage.accent ?? undefined, welcome: chatPage.welcome ?? undefined }
    : undefined;
}

/** The newest text of the Studio in this browser that is not deployed. */
function useDraft(botId: string): string | undefined {
  const accountId = useViewer().account.id;
  const [draft, setDraft] = useState<string>();
  useEffect(() => {
    const read = () => setDraft(newestText({ accountId, botId, environment: 'PRODUCTION' }));
    read();
    addEventListener('storage', read);
    return () => removeEventListener('storage', read);
  }, [accountId, botId]);
  return draft;
}

/** Reads a source with the server's own language. A source with mistakes leaves the texts as they were. */
function useTexts(source: string | undefined): ChatPageTexts | undefined {
  const [texts, setTexts] = useState<{ source: string; page: ChatPageTexts | undefined }>();
  useEffect(() => {
    if (source === undefined) return undefined;
    let isCurrent = true;
    void Promise.all([
      import('../../../language/read.ts'),
      import('../../../language/chat-page.ts'),
    ]).then(([{ readSource }, { chatPageOf }]) => {
      const { definition } = readSource(source, { isDeployed: true });
      if (isCurrent && definition) setTexts({ source, page: chatPageOf(definition) });
    });
    return () => {
      isCurrent = false;
    };
  }, [source]);
  return source === undefined ? undefined : texts?.page;
}
