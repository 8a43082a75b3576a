import { openaiRoutes } from './openai/routes.ts';
import { restRoutes } from './rest/routes.ts';

/** Every route under `/v1`, in the order of the reference: REST, then OpenAI's API. */
export const routes = [...restRoutes, ...openaiRoutes];
