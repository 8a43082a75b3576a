import { useState } from 'react';
import { DefaultModelName, type Environment } from '../../../generated/operations/console.ts';
import { Composer } from '../../chat/composer.tsx';
import { Conversation } from '../../chat/conversation.tsx';
import { loadMarkdown } from '../../chat/reply-text.tsx';
import { useChat } from '../../chat/use-chat.ts';
import { environmentParameter } from '../../frame/environments.ts';
import { ButtonLink } from '../../parts/button.tsx';
import { useServerQuery } from '../../server/operations.ts';
import { lacks, useScope } from '../../server/viewer.ts';
import { newSessionId } from '../playground/use-parameters.ts';

const OFFLINE_HINT =
  'The offline model calls a tool only if the message names it, such as time.now.';

/** Whether the server has only the offline model. False for a key that may not know its model. */
function useIsOffline(): boolean {
  const mayKnow = useScope('OPERATOR');
  const { data } = useServerQuery(DefaultModelName, {}, { pause: !mayKnow });
  return data?.server.model === 'offline';
}

/** A short conversation with the bot. It continues in the playground. */
export function ChatStep({ botId, environment }: { botId: string; environment: Environment }) {
  const chat = useChat();
  const mayChat = useScope('CHAT');
  const isOffline = useIsOffline();
  const [message, setMessage] = useState('');
  const [sessionId] = useState(newSessionId);
  const send = async () => {
    setMessage('');
    const call = { botId, message, sessionId, environment } as const;
    const refused = await chat.send({ ...call, protocol: 'graphql', isStreamed: true });
    if (refused) setMessage(message);
  };
  const playground = new URLSearchParams({
    session_id: sessionId,
    tab: 'code',
    ...environmentParameter(environment),
  });
  return (
    <div className="talk">
      <div className="talk-frame">
        <Conversation turns={chat.turns}>
          <p className="soft talk-hint">
            Say hello. The reply streams in as the model writes it.{isOffline && ` ${OFFLINE_HINT}`}
          </p>
        </Conversation>
        <Composer
          message={message}
          onChange={setMessage}
          placeholder="Write a message…"
          isBusy={chat.isBusy}
          unavailable={!mayChat && lacks('CHAT')}
          onFocus={loadMarkdown}
          onSend={() => void send()}
          onStop={() => void chat.stop()}
        />
      </div>
      <p className="soft">
        The playground shows the request behind each reply, its trace, and the code that sends it
        from your backend.
      </p>
      <div>
        <ButtonLink href={`/bots/${botId}/playground?${playground}`} icon="chat">
          Open the playground
        </ButtonLink>
      </div>
    </div>
  );
}
