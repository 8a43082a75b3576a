import type { Chat } from '../../chat/use-chat.ts';
import type { Earlier } from './use-earlier.ts';
import type { EnvironmentName } from './use-parameters.ts';

/** One environment's half of the conversation. */
export type Half = {
  environment: EnvironmentName;
  label: string;
  isDeployed: boolean;
  chat: Chat;
  earlier: Earlier;
};
