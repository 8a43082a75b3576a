import { chatRoutes } from './chats.ts';
import { deploymentRoutes } from './deployments.ts';
import { runRoutes } from './runs.ts';

/** Every route of the REST interface, in the order of its reference. Source: the API document, "Endpoints". */
export const routes = [...chatRoutes, ...runRoutes, ...deploymentRoutes];
