import './definition.ts';
import './account.ts';
import './account-end.ts';
import './account-list.ts';
import './api-key.ts';
import './api-key-changes.ts';
import './audit-log.ts';
import './session-token.ts';
import './sign-in-code.ts';
import './bot.ts';
import './deployment.ts';
import './deploy.ts';
import './deployment-list.ts';
import './session.ts';
import './session-changes.ts';
import './run.ts';
import './run-follow.ts';
import './run-list.ts';
import './bot-stats.ts';
import './usage.ts';
import './server.ts';
import './chat.ts';
import './execute.ts';
import { builder } from './builder.ts';
import { passEventsOn } from './events.ts';
import { nullableMutations } from './nullable-mutations.ts';

/** The schema that all of Parley's interfaces execute against. */
export const schema = passEventsOn(nullableMutations(builder.toSchema()));
