import { Link } from 'wouter';
import { ChannelStates } from '../../deploy/channel-states.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import type { WebChatBot } from './visitors-form.tsx';

/** The address of the chat page, as people reach it. */
export function pageUrlOf({ id, webUrl }: Pick<WebChatBot, 'id' | 'webUrl'>): string {
  return webUrl ?? `${location.origin}/chat/${id}`;
}

/** Where people reach the bot. */
export function Address({ bot }: { bot: WebChatBot }) {
  const { id, chatPage, activeDeployment } = bot;
  const page = pageUrlOf(bot);
  const states = activeDeployment?.channelStates ?? [];
  return (
    <section aria-labelledby="chat-address">
      <h2 id="chat-address">Address</h2>
      {chatPage ? (
        <p className="chat-address">
          <a href={page} target="_blank" rel="noreferrer">
            {page}
          </a>{' '}
          <CopyButton label="Copy the address" text={page} />
        </p>
      ) : (
        <p className="soft">
          There is no chat page yet. <Link href={`/bots/${id}/deployments/new`}>Deploy</Link> a
          definition with <code>channel web</code> to production; the page is then at {page}.
        </p>
      )}
      {states.length > 0 && <ChannelStates states={states} />}
    </section>
  );
}
