import type { IconName } from '../parts/icon.tsx';

/** A place that the navigation leads to. */
export type Destination = {
  href: string;
  icon: IconName;
  label: string;
  /** Whether the address is a page of its own, outside the console's views. */
  isPage?: boolean;
  /** Whether the bar of narrow windows has it. The menu "More" has the others. */
  isInBar: boolean;
};

/** The places of the navigation, with the places of a bot if one is shown. */
export function destinationsOf(botId: string | undefined) {
  const isInBar = botId === undefined;
  const ofBot = (name: string, icon: IconName, label: string, isInBar: boolean) =>
    botId === undefined ? [] : [{ href: `/bots/${botId}/${name}`, icon, label, isInBar }];
  const general: Destination[] = [
    { href: '/bots', icon: 'bot', label: 'Bots', isInBar },
    { href: '/settings', icon: 'sliders', label: 'Settings', isInBar },
  ];
  const bot: Destination[] = [
    ...ofBot('playground', 'chat', 'Playground', true),
    ...ofBot('runs', 'list', 'Runs', true),
    ...ofBot('sessions', 'users', 'Sessions', false),
    ...ofBot('deployments', 'layers', 'Deployments', false),
    ...ofBot('studio', 'edit', 'Studio', true),
  ];
  const reference: Destination[] = [
    { href: '/guide', icon: 'book', label: 'Guide', isInBar },
    { href: '/docs', icon: 'list', label: 'REST API', isPage: true, isInBar: false },
    { href: '/graphql', icon: 'code', label: 'GraphiQL', isPage: true, isInBar: false },
  ];
  return { general, bot, reference };
}

/** Whether an address belongs to a destination. The page of a run belongs to the runs of its bot. */
export function isAt({ href }: Destination, location: string): boolean {
  if (/^\/runs\/./.test(location)) return /^\/bots\/[^/]+\/runs$/.test(href);
  const isOfBot = href === '/bots' && /^\/bots\/[^/]+\/./.test(location);
  return location === href || (location.startsWith(`${href}/`) && !isOfBot);
}
