import { type ReactNode, useState } from 'react';
import { Button } from '../parts/button.tsx';
import './conversation.css';
import { ConversationScroll } from './conversation-scroll.tsx';
import type { Turn } from './turn.ts';
import { type TurnActions, TurnView } from './turn-view.tsx';

/** Turns that are in the page at first, and that each request for earlier ones adds. */
const SHOWN = 100;

/** The turns of a conversation. */
export function Conversation({
  turns,
  label = 'Conversation',
  user = 'You',
  top,
  actions,
  cannotRepeat,
  inspected,
  bottom,
  children,
}: {
  turns: Turn[];
  label?: string;
  /** Who wrote the messages. */
  user?: string;
  /** Stands above the first turn. */
  top?: ReactNode;
  actions?: TurnActions | undefined;
  /** Why the message of a turn cannot be sent again now. */
  cannotRepeat?: ((turn: Turn) => string | undefined) | undefined;
  /** The id of the turn whose requests are shown beside the conversation. */
  inspected?: string | undefined;
  /** Items after the last turn. */
  bottom?: ReactNode;
  /** Replaces the turns while there are none. */
  children?: ReactNode;
}) {
  const [most, setMost] = useState(SHOWN);
  const shown = turns.slice(-most);
  const hidden = turns.length - shown.length;

  return (
    <ConversationScroll label={label} items={shown}>
      {hidden === 0 ? (
        top
      ) : (
        <p className="conversation-note">
          <Button look="quiet" onClick={() => setMost(most + SHOWN)}>
            Show earlier messages
          </Button>
        </p>
      )}
      {turns.length === 0 && children}
      <ol>
        {shown.map((turn) => (
          <TurnView
            key={turn.id}
            turn={turn}
            user={user}
            actions={actions}
            cannotRepeat={cannotRepeat?.(turn)}
            isInspected={turn.id === inspected}
          />
        ))}
        {bottom}
      </ol>
    </ConversationScroll>
  );
}
