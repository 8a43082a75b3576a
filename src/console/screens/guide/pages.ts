/** A page of the guide: its part of the address, the Markdown file below the repository's root, and its group. */
export type PageSource = {
  slug: string;
  file: string;
  group: string;
  /** The title, if the file's own would not fit. */
  title?: string;
  /** Headings whose sections concern the repository or the installation: a server that shows the guide runs. */
  omit?: string[];
};

/** The guide's pages in their order. A page needs one line here and no other change. */
export const PAGE_SOURCES: PageSource[] = [
  {
    slug: 'start',
    file: 'README.md',
    group: 'Start',
    title: 'First steps',
    omit: ['Run it', 'Test it', 'Read on', 'Dependencies'],
  },
  { slug: 'console', file: 'docs/console.md', group: 'Start' },
  { slug: 'tutorial', file: 'docs/language/tutorial.md', group: 'Start' },
  {
    slug: 'language',
    file: 'docs/language/reference.md',
    group: 'Build',
    title: 'The language agentlang',
  },
  { slug: 'agents-that-act', file: 'docs/agents-that-act.md', group: 'Build' },
  { slug: 'test-an-agent', file: 'docs/test-an-agent.md', group: 'Build' },
  { slug: 'rest', file: 'docs/rest.md', group: 'Build' },
  { slug: 'graphql', file: 'docs/graphql.md', group: 'Build' },
  { slug: 'entrances', file: 'docs/entrances.md', group: 'Build' },
  { slug: 'client', file: 'docs/client.md', group: 'Build' },
  { slug: 'command', file: 'docs/command.md', group: 'Build' },
  { slug: 'mcp-server', file: 'docs/mcp-server.md', group: 'Build' },
  { slug: 'channels', file: 'docs/channels.md', group: 'Build' },
  { slug: 'operations', file: 'docs/operations.md', group: 'Run' },
  { slug: 'models', file: 'docs/models.md', group: 'Run' },
  { slug: 'security', file: 'docs/security.md', group: 'Run' },
  { slug: 'performance', file: 'docs/performance.md', group: 'Run' },
  { slug: 'architecture', file: 'docs/architecture.md', group: 'Develop' },
  { slug: 'contributing', file: 'docs/contributing.md', group: 'Develop' },
  { slug: 'decisions', file: 'docs/decisions.md', group: 'Develop' },
  { slug: 'changes', file: 'CHANGELOG.md', group: 'Develop' },
];
