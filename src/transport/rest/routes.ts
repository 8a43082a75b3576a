import { chatRoutes } from './chats/routes.ts';
import { deploymentRoutes } from './deployments/routes.ts';
import { runRoutes } from './runs/routes.ts';

/** Every route of the REST interface, in the order of its reference. Source: the API document, "Endpoints". */
export const routes = [...chatRoutes, ...runRoutes, ...deploymentRoutes];
