import { approvalRoutes } from './approvals.ts';
import { chatRoutes } from './chats.ts';
import { deploymentRoutes } from './deployments.ts';
import { evaluationRoutes } from './evaluations.ts';
import { runRoutes } from './runs.ts';

/** Every route of the REST interface, in the order of its reference. Source: the API document, "Endpoints". */
export const restRoutes = [
  ...chatRoutes,
  ...runRoutes,
  ...approvalRoutes,
  ...evaluationRoutes,
  ...deploymentRoutes,
];
