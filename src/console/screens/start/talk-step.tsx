import { useState } from 'react';
import { Composer } from '../../chat/composer.tsx';
import { Conversation } from '../../chat/conversation.tsx';
import { useChat } from '../../chat/use-chat.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { lacks, useScope } from '../../server/viewer.ts';

/** A short conversation with the bot, and the call that does the same from a backend. */
export function TalkStep({ botId }: { botId: string }) {
  const chat = useChat(botId);
  const mayChat = useScope('CHAT');
  const [sessionId] = useState(() => `console-${crypto.randomUUID().slice(0, 8)}`);
  return (
    <div className="talk">
      <div className="talk-frame">
        <Conversation turns={chat.turns}>
          <p className="soft talk-hint">Say hello. The reply streams in as the model writes it.</p>
        </Conversation>
        <Composer
          placeholder="Write a message…"
          isBusy={chat.isBusy}
          unavailable={!mayChat && lacks('CHAT')}
          onSend={(message) => void chat.send({ message, sessionId })}
          onStop={() => void chat.stop()}
        />
      </div>
      <h3>The same call from your backend</h3>
      <CodeBlock label="curl command">{curlFor(botId)}</CodeBlock>
    </div>
  );
}

function curlFor(botId: string): string {
  return `curl ${location.origin}/v1/bots/${botId}/chat \\
  -H "Authorization: Bearer $PARLEY_API_KEY" \\
  -H "Content-Type: application/json" \\
  -H "X-Session-ID: user-1" \\
  -d '{"message": "Hello!"}'`;
}
