import orderDesk from '../../../prisma/examples/order-desk.agent';
import support from '../../../prisma/examples/support.agent';
import translator from '../../../prisma/examples/translator.agent';
import type { TemplateName } from './template-names.ts';

/** The templates of `parley init`. */
export const TEMPLATES: Record<TemplateName, { source: string; description: string }> = {
  support: { source: support, description: 'first-line support with a handbook and tickets' },
  'order-desk': { source: orderDesk, description: 'order questions, refunds and issues' },
  translator: { source: translator, description: 'translations on your own model server' },
};
