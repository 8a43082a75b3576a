import { useState } from 'react';
import type { KeyScope } from '../../../../generated/operations/console.ts';
import { Choice, Choices } from '../../../parts/choices.tsx';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { TextField } from '../../../parts/field.tsx';
import { SCOPES, scopeName } from '../../../server/plans.ts';
import { detailFor, type Problem } from '../../../server/problem.ts';
import { lacks, useViewer } from '../../../server/viewer.ts';
import { BotsField } from './bots-field.tsx';
import { ExpiryField } from './expiry-field.tsx';
import type { KeyDraft, ListedKey } from './key.ts';

/** The fields of a new or an existing key. It offers no right that the signed-in key lacks. */
export function KeyForm({
  edited,
  problem,
  onSubmit,
  ...form
}: {
  edited?: ListedKey;
  /** The verb of its button. */
  action: string;
  isBusy: boolean;
  problem: Problem | undefined;
  onSubmit(draft: KeyDraft): void;
  onCancel(): void;
}) {
  const { apiKey } = useViewer();
  const [draft, setDraft] = useState<KeyDraft>({
    name: edited?.name ?? '',
    scopes: edited?.scopes ?? ['CHAT'],
    botIds: (edited ?? apiKey).bots?.map(({ id }) => id) ?? null,
    expiresAt: undefined,
  });
  const mayGrant = (scope: KeyScope) =>
    apiKey.scopes.includes(scope) || (scope === 'APPROVE' && apiKey.scopes.includes('ADMIN'));
  const change = (part: Partial<KeyDraft>) => setDraft({ ...draft, ...part });
  return (
    <DialogForm
      {...form}
      problem={problem}
      unavailable={missingIn(draft)}
      onSubmit={() => onSubmit(draft)}
    >
      <TextField
        label="Name"
        placeholder="Web shop"
        required
        maxLength={200}
        value={draft.name}
        error={detailFor(problem, 'input.name')}
        onChange={({ target }) => change({ name: target.value })}
      />
      <Choices label="Scopes">
        {SCOPES.filter(({ scope }) => scope !== 'OPERATOR' || apiKey.scopes.includes(scope)).map(
          ({ scope, allows }) => (
            <Choice
              key={scope}
              label={scopeName(scope)}
              hint={allows}
              isChosen={draft.scopes.includes(scope)}
              unavailable={!mayGrant(scope) && lacks(scope)}
              onChange={(isChosen) =>
                change({
                  scopes: isChosen
                    ? [...draft.scopes, scope]
                    : draft.scopes.filter((one) => one !== scope),
                })
              }
            />
          ),
        )}
      </Choices>
      <BotsField
        chosen={draft.botIds}
        known={edited?.bots ?? []}
        onChange={(botIds) => change({ botIds })}
      />
      <ExpiryField
        current={edited?.expiresAt}
        latest={apiKey.expiresAt}
        error={detailFor(problem, 'input.expiresAt')}
        onChange={(expiresAt) => change({ expiresAt })}
      />
    </DialogForm>
  );
}

function missingIn({ name, scopes, botIds }: KeyDraft): string | undefined {
  if (name.trim() === '') return 'Give the key a name.';
  if (scopes.length === 0) return 'Choose at least one scope.';
  return botIds?.length === 0 ? 'Choose at least one bot.' : undefined;
}
