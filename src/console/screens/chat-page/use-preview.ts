import { useEffect, useState } from 'react';
import type { ChatPageTexts } from '../../../language/chat-page.ts';
import { useRunning } from '../../deploy/use-running.ts';
import { useDraftText } from '../../drafts/use-draft-text.ts';
import type { WebChatBot } from './visitors-form.tsx';

/** Where the definition of a preview is from. */
export type PreviewPlace = 'production' | 'staging' | 'draft';

/** The texts of the chat page of a place. The text in the Studio is followed while another tab changes it. */
export function usePreview(
  { id, chatPage }: WebChatBot,
  place: PreviewPlace,
): Omit<ChatPageTexts, 'name'> | undefined {
  const { running } = useRunning(id, 'STAGING');
  const draft = useDraftText(id, 'PRODUCTION');
  const sources = { production: undefined, staging: running?.source, draft };
  const read = useTexts(place, sources[place]);
  if (place !== 'production') return read;
  return chatPage
    ? { ...chatPage, accent: chatPage.accent ?? undefined, welcome: chatPage.welcome ?? undefined }
    : undefined;
}

/** Reads a source with the server's own language. A source with mistakes leaves the texts of its place as they were. */
function useTexts(place: PreviewPlace, source: string | undefined): ChatPageTexts | undefined {
  const [texts, setTexts] = useState<{ place: PreviewPlace; page: ChatPageTexts | undefined }>();
  useEffect(() => {
    if (source === undefined) return undefined;
    let isCurrent = true;
    void Promise.all([
      import('../../../language/read.ts'),
      import('../../../language/chat-page.ts'),
    ]).then(([{ readSource }, { chatPageOf }]) => {
      const { definition } = readSource(source, { isDeployed: true });
      if (isCurrent && definition) setTexts({ place, page: chatPageOf(definition) });
    });
    return () => {
      isCurrent = false;
    };
  }, [place, source]);
  return source !== undefined && texts?.place === place ? texts.page : undefined;
}
