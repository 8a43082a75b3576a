import { useEffect, useEffectEvent, useMemo, useState } from 'react';
import { mergedTurns } from '../../../chat/merged-turns.ts';
import type { Turn } from '../../../chat/turn.ts';
import { type Chat, useChat } from '../../../chat/use-chat.ts';
import { type StoredSession, useStoredSession } from '../../../chat/use-stored-session.ts';
import type { PlaygroundChatProps } from '../playground-chat.tsx';
import type { SideChoice } from '../sides.ts';
import { useDefinitionFacts, useDeployedFacts } from '../use-deployed-facts.ts';
import { useOutcomes } from '../use-outcomes.ts';
import { type ComparedSide, useSide } from './use-side.ts';

export type SideName = 'left' | 'right';

/** A side with its conversation. */
export type SideChat = {
  at: SideName;
  choice: SideChoice;
  side: ComparedSide;
  chat: Chat;
  /** The turns of earlier visits and of this one. */
  turns: Turn[];
  earlier: StoredSession;
  sessionId: string | undefined;
  /** Tools that the model may call and that change something at once. */
  effects: string[];
};

/** The name of a side in a sentence. */
export function nameOf({ label, detail }: ComparedSide): string {
  return detail ? `${label} ${detail}` : label;
}

/** The conversation of one side. Sessions of drafts get their id from the server, and the address keeps it. */
export function useSideChat(at: SideName, props: PlaygroundChatProps): SideChat {
  const { bot, sessionId, isNew, parameters, onChange } = props;
  const choice = parameters[at];
  const side = useSide(bot, choice);
  const chat = useChat();
  const key = `${at}Session` as const;
  const isDeployed = choice.kind === 'environment';
  const kept = isDeployed ? sessionId : parameters[key];
  const named = chat.turns.find((turn) => turn.sessionId)?.sessionId ?? kept;
  const own = isDeployed ? sessionId : named;
  const keep = useEffectEvent((id: string | undefined) => {
    if (!isDeployed && id !== parameters[key]) onChange({ [key]: id });
  });
  useEffect(() => keep(own), [own]);
  // A session that this view began has no earlier messages.
  const [opened] = useState(kept);
  const session = { botId: bot.id, environment: side.environment, sessionId: own ?? '' };
  const earlier = useStoredSession(
    session,
    opened === undefined || side.isReading || (isDeployed && isNew),
  );
  useOutcomes(session, chat.turns, earlier);
  const turns = useMemo(() => mergedTurns(earlier.turns, chat.turns), [earlier.turns, chat.turns]);
  const deployed = useDeployedFacts(side.deploymentId);
  const defined = useDefinitionFacts(side.source);
  const { effects } = isDeployed ? deployed : defined;
  return { at, choice, side, chat, turns, earlier, sessionId: own, effects };
}
