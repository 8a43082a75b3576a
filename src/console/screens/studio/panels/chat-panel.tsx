import { useEffect, useEffectEvent, useState } from 'react';
import type { ChatPageTexts } from '../../../../language/chat-page.ts';
import type { Environment } from '../../../../vocabulary/environments.ts';
import { Composer } from '../../../chat/composer.tsx';
import { Conversation } from '../../../chat/conversation.tsx';
import { loadMarkdown } from '../../../chat/reply-text.tsx';
import { useChat } from '../../../chat/use-chat.ts';
import { ChatPreview } from '../../../hosted/chat-preview.tsx';
import { Button, ButtonLink } from '../../../parts/button.tsx';
import { TextField } from '../../../parts/field.tsx';
import { Empty } from '../../../parts/state.tsx';
import type { Finding } from '../editor/state.ts';

type ChatPanelProps = {
  botId: string;
  environment: Environment;
  /** The text of the editor. */
  definition(): string;
  /** The variables that the definition uses. */
  envNames: readonly string[];
  /** The variables of the deployment, which the draft takes over. */
  deployed: readonly string[];
  hasErrors: boolean;
  /** The chat page of the text in the editor. */
  chatPage: ChatPageTexts | undefined;
  /** Shows what the server found wrong with the definition. */
  onRefused(findings: readonly Finding[]): void;
};

/** A conversation with the definition in the editor, in a session that is used for nothing else. */
export function ChatPanel(props: ChatPanelProps) {
  const [count, setCount] = useState(0);
  const [values, setValues] = useState<Record<string, string>>({});
  return (
    <div className="studio-chat">
      <div className="studio-chat-bar">
        <Variables {...props} values={values} onChange={setValues} />
        <ButtonLink look="quiet" href={comparisonOf(props)}>
          Compare…
        </ButtonLink>
        <Button look="quiet" icon="plus" onClick={() => setCount(count + 1)}>
          New session
        </Button>
      </div>
      <DraftChat key={count} {...props} values={values} />
    </div>
  );
}

/** The address of the comparison of the text with what runs. */
function comparisonOf({ botId, environment }: ChatPanelProps): string {
  const sides = environment === 'STAGING' ? 'left=staging&right=staging-draft' : 'right=draft';
  return `/bots/${botId}/playground?compare=true&${sides}`;
}

function DraftChat({
  botId,
  environment,
  definition,
  envNames,
  hasErrors,
  chatPage,
  onRefused,
  values,
}: ChatPanelProps & { values: Record<string, string> }) {
  const chat = useChat();
  const sessionId = chat.turns.find((turn) => turn.sessionId)?.sessionId;
  const [message, setMessage] = useState('');
  const send = async (text: string) => {
    setMessage('');
    const envVars = envNames.flatMap((name) => {
      const value = values[name];
      return value ? [{ name, value }] : [];
    });
    const refused = await chat.send({
      botId,
      message: text,
      sessionId,
      environment,
      protocol: 'graphql',
      isStreamed: true,
      draft: { definition: definition(), envVars },
    });
    if (refused) setMessage(text);
  };
  const diagnostics = chat.turns.at(-1)?.problem?.diagnostics;
  const refused = useEffectEvent(onRefused);
  useEffect(() => {
    if (diagnostics) refused(diagnostics);
  }, [diagnostics]);
  return (
    <>
      <Conversation turns={chat.turns} label="Test conversation">
        {hasWelcome(chatPage) ? (
          <>
            <ChatPreview
              page={chatPage}
              onSuggestion={(text) => {
                if (!hasErrors) void send(text);
              }}
            />
            <p className="faint studio-chat-note">{NOTE}</p>
          </>
        ) : (
          <Empty title="Try it before you deploy it">
            <p>{NOTE}</p>
          </Empty>
        )}
      </Conversation>
      <Composer
        message={message}
        onChange={setMessage}
        placeholder="Write a message…"
        isBusy={chat.isBusy}
        unavailable={hasErrors && 'Correct the errors first.'}
        onFocus={loadMarkdown}
        onSend={() => void send(message)}
        onStop={() => void chat.stop()}
      />
    </>
  );
}

const NOTE =
  'The definition in the editor answers, with your unsaved changes. Only you see it, and its runs are kept for a day.';

/** Whether visitors of the chat page read something before the first message. */
function hasWelcome(page: ChatPageTexts | undefined): page is ChatPageTexts {
  return page !== undefined && (page.welcome !== undefined || page.suggestions.length > 0);
}

/** The values that the test uses for variables. They stay in this tab's memory. */
function Variables({
  envNames,
  deployed,
  values,
  onChange,
}: Pick<ChatPanelProps, 'envNames' | 'deployed'> & {
  values: Record<string, string>;
  onChange(values: Record<string, string>): void;
}) {
  if (envNames.length === 0) return null;
  const missing = envNames.filter((name) => !values[name] && !deployed.includes(name));
  return (
    <details className="studio-variables">
      <summary className="chip chip-button">
        {missing.length === 0
          ? 'Variables'
          : `${missing.length} variable${missing.length === 1 ? '' : 's'} unset`}
      </summary>
      <div className="studio-variables-body">
        <p className="faint">Values for this chat only. They stay in this tab.</p>
        {envNames.map((name) => (
          <TextField
            key={name}
            label={name}
            type="password"
            isMono
            autoComplete="new-password"
            placeholder={deployed.includes(name) ? 'as deployed' : ''}
            value={values[name] ?? ''}
            onChange={({ target }) => onChange({ ...values, [name]: target.value })}
          />
        ))}
      </div>
    </details>
  );
}
