import { Link } from 'wouter';
import { WebChat } from '../../../generated/operations/console.ts';
import { ChannelStates } from '../../deploy/channel-states.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failed, Skeleton } from '../../parts/state.tsx';
import { useServerQuery } from '../../server/operations.ts';
import type { ListedBot } from './bot-row.tsx';
import './web-chat.css';
import { settingsOf, type WebChatBot, WebChatForm } from './web-chat-form.tsx';

/** The chat page of a bot: its address, the line for the widget, the states of the channels, and its settings. */
export function WebChatDialog({ bot, onClose }: { bot: ListedBot; onClose(): void }) {
  const { data, problem, retry } = useServerQuery(WebChat, { id: bot.id });
  return (
    <Dialog title={`Web chat of ${bot.name}`} onClose={onClose}>
      {problem ? (
        <Failed problem={problem} onRetry={retry} />
      ) : !data?.bot ? (
        <Skeleton height={320} />
      ) : (
        <>
          <Place bot={data.bot} />
          {/* The settings may have changed since they were cached. */}
          <WebChatForm
            key={JSON.stringify(settingsOf(data.bot))}
            bot={data.bot}
            onClose={onClose}
          />
        </>
      )}
    </Dialog>
  );
}

/** Where people reach the bot. */
function Place({ bot }: { bot: WebChatBot }) {
  const { id, webUrl, chatPage, activeDeployment } = bot;
  const page = webUrl ?? `${location.origin}/chat/${id}`;
  const script = new URL('../widget.js', page).href;
  const states = activeDeployment?.channelStates ?? [];
  return (
    <div className="web-chat-place">
      {states.length > 0 && <ChannelStates states={states} />}
      {chatPage ? (
        <p>
          People chat at{' '}
          <a href={page} target="_blank" rel="noreferrer">
            {page}
          </a>
        </p>
      ) : (
        <p className="soft">
          There is no chat page yet. <Link href={`/bots/${id}/deployments/new`}>Deploy</Link> a
          definition with <code>channel web</code> to production; the page is then at {page}.
        </p>
      )}
      <p>To show the chat in a page of yours, add this line to it:</p>
      <CodeBlock label="The line of the widget">
        {`<script src="${script}" data-bot="${id}" async></script>`}
      </CodeBlock>
    </div>
  );
}
