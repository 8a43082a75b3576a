import type { KeyScope } from '../../../generated/operations/console.ts';
import type { Command } from './command.ts';

/** A page of the console, or with `isOutside` one that the server renders. */
export type Page = Pick<Command, 'group' | 'icon' | 'label' | 'words'> & {
  href: string;
  /** Without this scope the palette does not offer it. */
  needs?: KeyScope;
  /** The palette does not offer it to a key that is restricted to some bots. */
  needsEveryBot?: true;
  isOutside?: true;
};

export const PAGES: Page[] = [
  { group: 'Go to', icon: 'list', label: 'Bots', href: '/bots', words: 'list' },
  {
    group: 'Go to',
    icon: 'plus',
    label: 'New bot',
    href: '/bots/new',
    words: 'create',
    needs: 'ADMIN',
    needsEveryBot: true,
  },
  { group: 'Settings', icon: 'user', label: 'Account', href: '/settings', words: 'plan limits' },
  {
    group: 'Settings',
    icon: 'list',
    label: 'Usage',
    href: '/settings/usage',
    words: 'tokens requests limits',
  },
  {
    group: 'Settings',
    icon: 'sliders',
    label: 'API keys',
    href: '/settings/keys',
    words: 'rotate revoke',
    needs: 'ADMIN',
  },
  {
    group: 'Settings',
    icon: 'plus',
    label: 'New API key',
    href: '/settings/keys/new',
    words: 'create',
    needs: 'ADMIN',
  },
  {
    group: 'Settings',
    icon: 'list',
    label: 'Audit log',
    href: '/settings/audit',
    words: 'history changes',
    needs: 'ADMIN',
  },
  {
    group: 'Settings',
    icon: 'user',
    label: 'Accounts',
    href: '/settings/accounts',
    words: 'plans operator',
    needs: 'OPERATOR',
  },
  {
    group: 'Settings',
    icon: 'plus',
    label: 'New account',
    href: '/settings/accounts/new',
    words: 'create operator',
    needs: 'OPERATOR',
  },
  {
    group: 'Settings',
    icon: 'sliders',
    label: 'Server',
    href: '/settings/server',
    words: 'version database redis health',
  },
  {
    group: 'Reference',
    icon: 'book',
    label: 'Guide',
    href: '/guide',
    words: 'manual documents help',
  },
  { group: 'Reference', icon: 'list', label: 'REST API', href: '/docs', isOutside: true },
  { group: 'Reference', icon: 'code', label: 'GraphiQL', href: '/graphql', isOutside: true },
];
