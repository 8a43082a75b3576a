import { ACCOUNTS, EVERY_ACCOUNT } from '../accounts/account-list.ts';
import { readLists } from '../storage/lists.ts';
import { AccountNode } from './account.ts';
import { builder } from './builder.ts';
import { connectionLoader } from './connection-loader.ts';

const loadAccounts = connectionLoader({
  type: 'Account',
  order: ACCOUNTS,
  find: ({ prisma }, owners, page) => readLists(prisma, ACCOUNTS, owners, page),
  read: ({ prisma }, query) => prisma.account.findMany(query),
});

builder.queryField('accounts', (t) =>
  t.connection(
    {
      type: AccountNode,
      description:
        'Lists every account of the installation, newest first. Requires the scope OPERATOR.',
      authScopes: { scope: 'OPERATOR' },
      resolve: (_root, args, context, info) => loadAccounts(EVERY_ACCOUNT, args, context, info),
    },
    { name: 'AccountConnection' },
    { name: 'AccountEdge' },
  ),
);
