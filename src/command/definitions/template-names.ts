/** The templates of `parley init`. The first one is the default. */
export const TEMPLATE_NAMES = ['support', 'order-desk', 'translator'] as const;

export type TemplateName = (typeof TEMPLATE_NAMES)[number];
