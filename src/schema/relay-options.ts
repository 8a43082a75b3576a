import { cursor, pageSize } from '../text/input.ts';

/** Node types by the prefix of their ids. An id without one of these prefixes is a bot's. */
const NODE_TYPES = new Map([
  ['acc', 'Account'],
  ['key', 'ApiKey'],
  ['dep', 'Deployment'],
  ['run', 'Run'],
  ['ses', 'Session'],
]);

const MAX_IDS: [number, { message: string }] = [100, { message: 'must be at most 100' }];

/** The options of the Relay plugin, with the descriptions of the types, fields and arguments that it creates. */
export const RELAY_OPTIONS = {
  encodeGlobalID: (_type: string, id: bigint | number | string) => String(id),
  decodeGlobalID: (id: string) => ({
    typename: NODE_TYPES.get(id.split('_', 1)[0] ?? '') ?? 'Bot',
    id,
  }),

  nodeTypeOptions: {
    description: 'An object with a globally unique ID. `node` retrieves it by that ID.',
  },
  idFieldOptions: { description: 'Unique identifier. Opaque; it never changes.' },
  nodeQueryOptions: {
    description:
      'Retrieves any object by its ID. Null if it does not exist or the API key has no access to it.',
    authScopes: { authenticated: true },
    args: { id: { description: 'ID of the object.' } },
  },
  nodesQueryOptions: {
    description: 'Retrieves up to 100 objects by their IDs, in the given order.',
    authScopes: { authenticated: true },
    args: {
      ids: {
        description: 'IDs of the objects, at most 100.',
        validate: { maxLength: MAX_IDS },
      },
    },
  },

  firstArgOptions: {
    description:
      'Number of entries from the start of the list, from 0 to 100. Defaults to 20. A page holds fewer entries, with `hasNextPage` true, when their texts exceed 8 MiB, or when a text search reaches its work limit.',
    validate: { schema: pageSize },
  },
  afterArgOptions: {
    description: 'Returns the entries after this cursor.',
    validate: { schema: cursor },
  },
  lastArgOptions: {
    description:
      'Number of entries from the end of the list, from 0 to 100. A page holds fewer entries, with `hasPreviousPage` true, when their texts exceed 8 MiB, or when a text search reaches its work limit.',
    validate: { schema: pageSize },
  },
  beforeArgOptions: {
    description: 'Returns the entries before this cursor.',
    validate: { schema: cursor },
  },

  defaultConnectionTypeOptions: { description: 'A page of a list.' },
  edgesFieldOptions: { description: 'The entries of this page, in order.' },
  pageInfoFieldOptions: { description: 'Position of this page in the list.' },
  defaultEdgeTypeOptions: { description: 'An entry of a list.' },
  nodeFieldOptions: { description: 'The entry.' },
  cursorFieldOptions: {
    description: 'Position of the entry in the list, for `after` and `before`.',
  },

  pageInfoTypeOptions: { description: 'Position of a page in its list.' },
  hasNextPageFieldOptions: {
    description:
      'Whether entries follow this page. For a page at which a search stopped: whether entries may follow.',
  },
  hasPreviousPageFieldOptions: {
    description:
      'Whether entries precede this page. For a page at which a search stopped: whether entries may precede it.',
  },
  startCursorFieldOptions: {
    description:
      'Cursor of the first entry on the page. Null if the page is empty. For a page at which a search stopped, with `last`: where the search continues.',
  },
  endCursorFieldOptions: {
    description:
      'Cursor of the last entry on the page. Null if the page is empty. For a page at which a search stopped, with `first`: where the search continues.',
  },
};
