/**
 * The screens of the console. The routes, the navigation, the palette, the titles, the tabs of the settings, the addresses
 * that the server knows, and the tests derive from this table. It imports nothing, because the server reads it too.
 */
export type ScreenRow = {
  /** A pattern of addresses: `:name` is a parameter, and a part that ends with `?` may be absent. */
  path: string;
  title: string;
  icon?:
    | 'account-plus'
    | 'accounts'
    | 'bot'
    | 'book'
    | 'tests'
    | 'braces'
    | 'chat'
    | 'clock'
    | 'edit'
    | 'gauge'
    | 'graph'
    | 'home'
    | 'key'
    | 'key-plus'
    | 'layers'
    | 'panel'
    | 'plus'
    | 'pulse'
    | 'server'
    | 'shield'
    | 'sliders'
    | 'user'
    | 'users';
  /** The part of the navigation that has the screen. */
  navigation?: 'general' | 'bot' | 'reference';
  /** Whether the bar of narrow windows has the screen. The menu "More" has the others. */
  isInBar?: true;
  /** The screen that leads to this one: the navigation, or a tab of the settings, shows it as the current one. */
  parent?: string;
  /** The heading of the screen in the palette. */
  group?: 'Go to' | 'This bot' | 'Settings' | 'Reference';
  /** Further words that find the screen in the palette. */
  words?: string;
  /** The scope without which the navigation and the palette do not offer the screen. */
  needs?: 'ADMIN' | 'APPROVE' | 'DEPLOY' | 'OPERATOR';
  /** Whether the palette hides the screen from a key that is restricted to some bots. */
  needsEveryBot?: true;
  /** Whether the server renders the page. Links to it leave the console. */
  isPage?: true;
  /** Whether the screen shows one environment, or also both. Without a value it has no switch of the environment. */
  environments?: 'one' | 'both';
  /** The parameter that opens a comparison, if it is true, in place of one environment. Choosing an environment removes it. */
  comparison?: string;
};

export const SCREENS = {
  bots: {
    path: '/bots',
    title: 'Bots',
    icon: 'bot',
    navigation: 'general',
    isInBar: true,
    group: 'Go to',
    words: 'list',
  },
  newBot: {
    path: '/bots/new',
    title: 'New bot',
    icon: 'plus',
    parent: 'bots',
    group: 'Go to',
    words: 'create',
    needs: 'ADMIN',
    needsEveryBot: true,
  },
  home: {
    path: '/bots/:botId',
    title: 'Home',
    icon: 'home',
    navigation: 'bot',
    group: 'This bot',
    words: 'overview health addresses',
    environments: 'both',
  },
  start: { path: '/bots/:botId/start', title: 'Bot' },
  playground: {
    path: '/bots/:botId/playground',
    title: 'Playground',
    icon: 'chat',
    navigation: 'bot',
    isInBar: true,
    group: 'This bot',
    environments: 'one',
    comparison: 'compare',
  },
  runs: {
    path: '/bots/:botId/runs',
    title: 'Runs',
    icon: 'pulse',
    navigation: 'bot',
    isInBar: true,
    group: 'This bot',
    environments: 'both',
  },
  run: { path: '/runs/:id', title: 'Run', parent: 'runs' },
  compare: { path: '/runs/:id/compare/:other', title: 'Compare runs', parent: 'runs' },
  sessions: {
    path: '/bots/:botId/sessions',
    title: 'Sessions',
    icon: 'users',
    navigation: 'bot',
    group: 'This bot',
    environments: 'one',
  },
  approvals: {
    path: '/bots/:botId/approvals/:opened?',
    title: 'Approvals',
    icon: 'shield',
    navigation: 'bot',
    group: 'This bot',
    words: 'tool calls approve deny inbox',
    needs: 'APPROVE',
    environments: 'both',
  },
  deploy: {
    path: '/bots/:botId/deployments/new',
    title: 'Deploy',
    parent: 'deployments',
    environments: 'one',
  },
  deployments: {
    path: '/bots/:botId/deployments/:opened?',
    title: 'Deployments',
    icon: 'layers',
    navigation: 'bot',
    group: 'This bot',
    environments: 'both',
  },
  deploymentComparison: {
    path: '/bots/:botId/deployments/:id/compare/:other',
    title: 'Compare deployments',
    parent: 'deployments',
  },
  evaluations: {
    path: '/bots/:botId/evaluations',
    title: 'Evaluations',
    icon: 'tests',
    navigation: 'bot',
    group: 'This bot',
    words: 'tests replay judge cases',
    needs: 'DEPLOY',
    environments: 'both',
  },
  evaluation: {
    path: '/bots/:botId/evaluations/:id',
    title: 'Evaluation',
    parent: 'evaluations',
  },
  chatPage: {
    path: '/bots/:botId/chat-page',
    title: 'Chat page',
    icon: 'panel',
    navigation: 'bot',
    group: 'This bot',
    words: 'web widget logo accent embed visitors preview',
  },
  studio: {
    path: '/bots/:botId/studio',
    title: 'Studio',
    icon: 'edit',
    navigation: 'bot',
    isInBar: true,
    group: 'This bot',
    environments: 'one',
  },
  settings: {
    path: '/settings/*?',
    title: 'Settings',
    icon: 'sliders',
    navigation: 'general',
    isInBar: true,
  },
  account: {
    path: '/settings',
    title: 'Account',
    icon: 'user',
    group: 'Settings',
    words: 'plan limits',
  },
  usage: {
    path: '/settings/usage',
    title: 'Usage',
    icon: 'gauge',
    group: 'Settings',
    words: 'tokens requests limits',
  },
  keys: {
    path: '/settings/keys',
    title: 'API keys',
    icon: 'key',
    group: 'Settings',
    words: 'rotate revoke',
    needs: 'ADMIN',
  },
  newKey: {
    path: '/settings/keys/new',
    title: 'New API key',
    icon: 'key-plus',
    parent: 'keys',
    group: 'Settings',
    words: 'create',
    needs: 'ADMIN',
  },
  audit: {
    path: '/settings/audit',
    title: 'Audit log',
    icon: 'clock',
    group: 'Settings',
    words: 'history changes',
    needs: 'ADMIN',
  },
  accounts: {
    path: '/settings/accounts',
    title: 'Accounts',
    icon: 'accounts',
    group: 'Settings',
    words: 'plans operator',
    needs: 'OPERATOR',
  },
  newAccount: {
    path: '/settings/accounts/new',
    title: 'New account',
    icon: 'account-plus',
    parent: 'accounts',
    group: 'Settings',
    words: 'create operator',
    needs: 'OPERATOR',
  },
  server: {
    path: '/settings/server',
    title: 'Server',
    icon: 'server',
    group: 'Settings',
    words: 'version database redis health',
  },
  guide: {
    path: '/guide/:slug?',
    title: 'Guide',
    icon: 'book',
    navigation: 'reference',
    isInBar: true,
    group: 'Reference',
    words: 'manual documents help',
  },
  rest: {
    path: '/docs',
    title: 'REST API',
    icon: 'braces',
    navigation: 'reference',
    group: 'Reference',
    isPage: true,
  },
  graphiql: {
    path: '/graphql',
    title: 'GraphiQL',
    icon: 'graph',
    navigation: 'reference',
    group: 'Reference',
    isPage: true,
  },
} as const satisfies Record<string, ScreenRow>;
