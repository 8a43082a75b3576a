import { Link } from 'wouter';
import type { ApprovalQuery } from '../../../generated/operations/console.ts';
import { lacks, useScope } from '../../server/viewer.ts';
import { sessionsAddress } from '../sessions/place.ts';

type Shown = NonNullable<ApprovalQuery['approval']>;
type Message = NonNullable<Shown['session']>['messages']['edges'][number]['node'];

const WRITERS = { USER: 'User', ASSISTANT: 'Bot', TOOL: 'Tool', SYSTEM: 'Notice of the server' };

/** The last messages of the conversation that led to a call. */
export function ApprovalTalk({ approval, botId }: { approval: Shown; botId: string }) {
  const { user, session, environment } = approval;
  const mayRead = useScope('RUNS');
  const messages = session?.messages.edges.map(({ node }) => node) ?? [];
  return (
    <section className="approval-talk" aria-label="Conversation">
      <header>
        <h3>Conversation</h3>
        {user && mayRead && (
          <Link href={sessionsAddress(botId, { environment, user })}>Open session</Link>
        )}
      </header>
      {user === null ? (
        <p className="faint">The call belongs to a prompt outside any conversation.</p>
      ) : mayRead ? (
        messages.length === 0 ? (
          <p className="faint">No messages are stored.</p>
        ) : (
          <ol>
            {messages.map((message) => (
              <Line key={message.id} message={message} />
            ))}
          </ol>
        )
      ) : (
        <p className="faint">The messages are not shown. {lacks('RUNS')}</p>
      )}
    </section>
  );
}

function Line({ message: { role, text, toolName } }: { message: Message }) {
  if (text === '') return null;
  return (
    <li className={`approval-line approval-line-${role.toLowerCase()}`}>
      <p className="approval-writer">
        {WRITERS[role]}
        {toolName && <span className="mono"> {toolName}</span>}
      </p>
      <p className="approval-said" dir="auto">
        {text.length > 600 ? `${text.slice(0, 600)}…` : text}
      </p>
    </li>
  );
}
