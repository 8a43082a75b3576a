import { useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { Keys as KeysOf } from '../../../../generated/operations/console.ts';
import { Button, ButtonLink } from '../../../parts/button.tsx';
import { MissingRows, TableHead } from '../../../parts/table.tsx';
import { useServerQuery } from '../../../server/operations.ts';
import { type Issued, SecretDialog } from '../secret.tsx';
import { Section } from '../section.tsx';
import { RevokeKeyDialog, RotateKeyDialog } from './end-key.tsx';
import { hasEnded, type ListedKey } from './key.ts';
import { CreateKeyDialog, EditKeyDialog } from './key-dialogs.tsx';
import { type KeyAction, KeyRow } from './key-row.tsx';

const COLUMNS = 7;

type Open = { action: KeyAction; key: ListedKey };

/** The keys of the account that the signed-in key may see: list, create, edit, rotate, revoke. */
export function Keys({ isCreating = false }: { isCreating?: boolean }) {
  return (
    <Section
      screen="keys"
      actions={
        <ButtonLink href="/settings/keys/new" look="primary" icon="plus">
          New key
        </ButtonLink>
      }
    >
      <KeyList isCreating={isCreating} />
    </Section>
  );
}

function KeyList({ isCreating }: { isCreating: boolean }) {
  const { data, problem, retry } = useServerQuery(KeysOf, {});
  const [open, setOpen] = useState<Open>();
  const [issued, setIssued] = useState<Issued>();
  const [, navigate] = useLocation();
  const keys = data?.viewer.account.apiKeys;
  const backToList = () => navigate('/settings/keys', { replace: true });
  const close = () => setOpen(undefined);
  const show = (next: Issued) => {
    close();
    if (isCreating) backToList();
    setIssued(next);
  };
  return (
    <>
      <table className="table table-cards">
        <TableHead
          columns={['Name', 'Scopes', 'Bots', 'Created', 'Last used', 'Expires']}
          hasActions
        />
        {keys ? (
          <Rows keys={keys} onAction={(action, key) => setOpen({ action, key })} />
        ) : (
          <MissingRows columns={COLUMNS} problem={problem} onRetry={retry} />
        )}
      </table>
      {isCreating && <CreateKeyDialog onIssued={show} onClose={backToList} />}
      {open?.action === 'edit' && <EditKeyDialog edited={open.key} onClose={close} />}
      {open?.action === 'rotate' && (
        <RotateKeyDialog rotated={open.key} onIssued={show} onClose={close} />
      )}
      {open?.action === 'revoke' && (
        <RevokeKeyDialog revoked={open.key} keys={keys ?? []} onClose={close} />
      )}
      {issued && (
        <SecretDialog
          issued={issued}
          onClose={() => {
            setIssued(undefined);
            retry();
          }}
        />
      )}
    </>
  );
}

function Rows({
  keys,
  onAction,
}: {
  keys: ListedKey[];
  onAction(action: KeyAction, key: ListedKey): void;
}) {
  const [search, setSearch] = useSearchParams();
  const isShowingEnded = search.get('ended') === 'true';
  const ended = keys.filter(hasEnded);
  const shown = isShowingEnded ? keys : keys.filter((key) => !hasEnded(key));
  return (
    <tbody>
      {shown.map((key) => (
        <KeyRow key={key.id} apiKey={key} onAction={(action) => onAction(action, key)} />
      ))}
      {ended.length > 0 && (
        <tr className="table-more">
          <td colSpan={COLUMNS}>
            <Button look="quiet" onClick={() => setSearch(isShowingEnded ? {} : { ended: 'true' })}>
              {isShowingEnded ? 'Hide' : 'Show'} {ended.length} ended{' '}
              {ended.length === 1 ? 'key' : 'keys'}
            </Button>
          </td>
        </tr>
      )}
    </tbody>
  );
}
