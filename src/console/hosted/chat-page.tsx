import { useRef, useState } from 'react';
import { Composer } from '../chat/composer.tsx';
import { Button, IconButton } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu, MenuItem } from '../parts/menu.tsx';
import { connection } from '../server/connection.ts';
import { useStore } from '../server/store.ts';
import { accentStyle } from './accent-style.ts';
import './chat-page.css';
import { ChatTitle } from './chat-title.tsx';
import { embedding } from './embedding.ts';
import { Messages } from './messages.tsx';
import type { Page } from './page.ts';
import { reasonOf } from './reason.ts';
import { useConversation } from './use-conversation.ts';
import { useSpoken } from './use-spoken.ts';
import type { Visit } from './visit.ts';

/** The chat page of a bot. */
export function ChatPage({ page, visit }: { page: Page; visit: Visit }) {
  const conversation = useConversation(page.bot, visit);
  const { turns, isBusy, isLoading, isWaiting, problem } = conversation;
  const [message, setMessage] = useState(() => visit.kept.draft());
  const write = (text: string) => {
    setMessage(text);
    visit.kept.setDraft(text);
  };
  const [isForgetting, setForgetting] = useState(false);
  const input = useRef<HTMLTextAreaElement>(null);
  const { isAway } = useStore(connection);
  const spoken = useSpoken(turns.at(-1));

  const send = (text: string) => {
    void conversation.send(text);
    input.current?.focus();
  };
  const forget = () => {
    setForgetting(false);
    void conversation.forget().then(() => input.current?.focus());
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the widget from anywhere in it
    <div
      className="chat"
      style={accentStyle(page.accent)}
      onKeyDown={({ key, target }) => {
        const isInPopup = target instanceof Element && target.closest('dialog, [popover]');
        if (key === 'Escape' && !isInPopup) embedding.send({ type: 'close' });
      }}
    >
      <header className="chat-bar">
        <ChatTitle title={page.title} logo={page.logo} />
        <Menu label="Conversation" button={<Icon name="dots" />}>
          {!visit.isOfKnownUser && (
            <MenuItem
              unavailable={turns.length === 0 && 'This conversation is new'}
              onSelect={() => {
                conversation.startOver();
                input.current?.focus();
              }}
            >
              Start over
            </MenuItem>
          )}
          <MenuItem
            isDanger
            unavailable={
              (turns.length === 0 && 'This conversation is new') ||
              (isBusy && 'Wait for the end of the reply')
            }
            onSelect={() => setForgetting(true)}
          >
            Forget this conversation…
          </MenuItem>
        </Menu>
        {embedding.isEmbedded && (
          <IconButton
            label="Close the chat"
            icon="close"
            onClick={() => embedding.send({ type: 'close' })}
          />
        )}
      </header>
      <main className="chat-main">
        <Messages
          page={page}
          turns={turns}
          isLoading={isLoading}
          onEarlier={conversation.readEarlier}
          onRetry={(turn) => void conversation.retry(turn)}
          onSuggestion={send}
        />
        <div className="chat-foot">
          {isAway && (
            <p className="chat-notice" role="status">
              The connection is lost. What you write stays here, and messages are sent when it is
              back.
            </p>
          )}
          {isWaiting && !isBusy && (
            <p className="chat-waiting" role="status">
              A person must approve this. The answer appears here.
            </p>
          )}
          {problem && !isAway && (
            <p className="chat-notice chat-notice-bad" role="alert">
              {reasonOf(problem)}{' '}
              {!isBusy && (
                <Button look="quiet" onClick={() => void conversation.reload()}>
                  Try again
                </Button>
              )}
            </p>
          )}
          <Composer
            message={message}
            onChange={write}
            input={input}
            placeholder="Write a message"
            isBusy={isBusy}
            onSend={() => {
              send(message);
              write('');
            }}
            onStop={() => void conversation.stop()}
          />
          <p className="chat-hint">An automatic assistant. It can be wrong.</p>
        </div>
        <p className="unseen" role="status">
          {spoken}
        </p>
      </main>
      {isForgetting && (
        <Dialog title="Forget this conversation?" onClose={() => setForgetting(false)}>
          <p>
            All messages, and what {page.title} remembers of you, are deleted. This cannot be
            undone.
          </p>
          <div className="actions">
            <Button onClick={() => setForgetting(false)}>Cancel</Button>
            <Button look="danger" onClick={forget}>
              Forget
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
