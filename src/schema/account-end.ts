import { text } from '../text/input.ts';
import { AccountNode } from './account.ts';
import { builder } from './builder.ts';

builder.prismaObjectFields('Account', (t) => ({
  createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
  suspendedAt: t.expose('suspendedAt', {
    type: 'DateTime',
    nullable: true,
    description: 'Time at which an operator suspended the account. Null for an active account.',
  }),
}));

const accountArguments = builder.args((t) => ({
  id: t.id({ required: true, description: 'ID of the account.', validate: { schema: text } }),
}));

builder.mutationField('suspendAccount', (t) =>
  t.field({
    type: AccountNode,
    description:
      'Suspends an account: its keys and session tokens are refused with INVALID_API_KEY, its streams end and its queued and active runs are cancelled. An operator cannot suspend its own account. Requires the scope OPERATOR. Error: NOT_FOUND.',
    authScopes: { scope: 'OPERATOR' },
    args: accountArguments,
    resolve: async (_root, { id }, { accounts, cancel, caller }) => {
      const account = await accounts.suspend(caller(), id);
      await cancel.cancelAccount(id);
      return account;
    },
  }),
);

builder.mutationField('resumeAccount', (t) =>
  t.field({
    type: AccountNode,
    description:
      'Lifts the suspension of an account. Its keys work again within a second; cancelled runs stay cancelled. Requires the scope OPERATOR. Error: NOT_FOUND.',
    authScopes: { scope: 'OPERATOR' },
    args: accountArguments,
    resolve: (_root, { id }, { accounts, caller }) => accounts.resume(caller(), id),
  }),
);

builder.mutationField('deleteAccount', (t) =>
  t.id({
    description:
      'Deletes an account with its keys, bots, deployments, conversations, runs and audit log. It is suspended first, and rows are deleted in small batches. If the deletion fails midway, repeat it to continue. An operator cannot delete its own account. Requires the scope OPERATOR. Error: NOT_FOUND.',
    authScopes: { scope: 'OPERATOR' },
    args: accountArguments,
    resolve: async (_root, { id }, { accounts, bots, cancel, caller }) => {
      await accounts.beginDeletion(caller(), id);
      await cancel.cancelAccount(id);
      await bots.removeAll(id);
      await accounts.finishDeletion(caller(), id);
      return id;
    },
  }),
);
