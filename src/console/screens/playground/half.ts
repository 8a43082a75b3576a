import type { Environment } from '../../../vocabulary/environments.ts';
import type { Chat } from '../../chat/use-chat.ts';
import type { StoredSession } from '../../chat/use-stored-session.ts';

/** The conversation of a session with one environment. */
export type Half = {
  environment: Environment;
  isDeployed: boolean;
  /** The id of the active deployment. */
  deploymentId: string | undefined;
  chat: Chat;
  /** The turns that were stored before this view opened. */
  earlier: StoredSession;
};
