import { useState } from 'react';
import { useLocation } from 'wouter';
import { Accounts as AccountsOf } from '../../../../generated/operations/console.ts';
import { ButtonLink } from '../../../parts/button.tsx';
import { MissingRows, MoreRow, type OnMore, Pages, TableHead } from '../../../parts/table.tsx';
import { useServerQuery } from '../../../server/operations.ts';
import { type Issued, SecretDialog } from '../secret.tsx';
import { Section } from '../section.tsx';
import {
  ChangeAccountDialog,
  CreateAccountDialog,
  type ListedAccount,
} from './account-dialogs.tsx';
import { type AccountAction, AccountRow } from './account-row.tsx';
import { DeleteAccountDialog, resume, SuspendAccountDialog } from './end-account.tsx';

/** Accounts of one page of the list. */
const PAGE = 50;
const COLUMNS = 7;

/** Every account of the server, for operators: create, change, suspend, resume, delete. */
export function Accounts({ isCreating = false }: { isCreating?: boolean }) {
  return (
    <Section
      screen="accounts"
      actions={
        <ButtonLink href="/settings/accounts/new" look="primary" icon="plus">
          New account
        </ButtonLink>
      }
    >
      <AccountList isCreating={isCreating} />
    </Section>
  );
}

type Open = { action: AccountAction; account: ListedAccount };

function AccountList({ isCreating }: { isCreating: boolean }) {
  const [open, setOpen] = useState<Open>();
  const [issued, setIssued] = useState<Issued>();
  const [, navigate] = useLocation();
  const backToList = () => navigate('/settings/accounts', { replace: true });
  const close = () => setOpen(undefined);
  const act = (action: AccountAction, account: ListedAccount) => {
    if (action === 'resume') void resume(account);
    else setOpen({ action, account });
  };
  return (
    <>
      <table className="table table-cards">
        <TableHead
          columns={['Account', 'State', 'Plan', 'Requests a minute', 'Requests a day', 'Created']}
          numbers={['Requests a minute', 'Requests a day']}
          hasActions
        />
        <Pages
          page={(after, onMore) => <AccountPage after={after} onAction={act} onMore={onMore} />}
        />
      </table>
      {isCreating && (
        <CreateAccountDialog
          onClose={backToList}
          onIssued={(next) => {
            backToList();
            setIssued(next);
          }}
        />
      )}
      {open?.action === 'change' && <ChangeAccountDialog account={open.account} onClose={close} />}
      {open?.action === 'suspend' && (
        <SuspendAccountDialog account={open.account} onClose={close} />
      )}
      {open?.action === 'delete' && <DeleteAccountDialog account={open.account} onClose={close} />}
      {issued && <SecretDialog issued={issued} onClose={() => setIssued(undefined)} />}
    </>
  );
}

function AccountPage({
  after,
  onAction,
  onMore,
}: {
  after: string | null;
  onAction(action: AccountAction, account: ListedAccount): void;
  onMore: OnMore;
}) {
  const { data, problem, retry } = useServerQuery(AccountsOf, { first: PAGE, after });
  if (!data) return <MissingRows columns={COLUMNS} problem={problem} onRetry={retry} />;
  const { edges, pageInfo } = data.accounts;
  return (
    <tbody>
      {edges.map(({ node }) => (
        <AccountRow key={node.id} account={node} onAction={(action) => onAction(action, node)} />
      ))}
      <MoreRow columns={COLUMNS} pageInfo={pageInfo} onMore={onMore} />
    </tbody>
  );
}
