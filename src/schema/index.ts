import '../language/schema.ts';
import '../accounts/schema.ts';
import '../accounts/keys/schema.ts';
import '../accounts/session-tokens/schema.ts';
import '../bots/schema.ts';
import '../deployments/schema.ts';
import '../deployments/lists/schema.ts';
import '../sessions/schema.ts';
import '../runs/schema.ts';
import '../runs/lists/schema.ts';
import '../runs/stats/schema.ts';
import '../agent/schema.ts';
import { builder } from './builder.ts';
import { describeSchema } from './descriptions.ts';
import { passEventsOn } from './events.ts';

/** The product: every interface of Parley is a translation onto this schema. */
export const schema = passEventsOn(describeSchema(builder.toSchema()));
