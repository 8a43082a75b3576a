import { completionRoutes } from './completions.ts';
import { modelRoutes } from './models.ts';
import { responseRoutes } from './responses.ts';

/** Every route of OpenAI's API, in the order of the reference. */
export const openaiRoutes = [...modelRoutes, ...completionRoutes, ...responseRoutes];
