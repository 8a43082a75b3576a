import { useState } from 'react';
import type { Plan } from '../../../../generated/operations/console.ts';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { SelectField, TextField } from '../../../parts/field.tsx';
import { PLANS } from '../../../server/plans.ts';
import { detailFor, type Problem } from '../../../server/problem.ts';

/** The fields of an account. Only the plan ENTERPRISE has limits that the form sets. */
export type AccountDraft = {
  name: string;
  plan: Plan;
  requestsPerMinute?: number;
  requestsPerDay?: number;
};

/** Limits that a new ENTERPRISE account is offered. */
const OFFERED = { requestsPerMinute: 1_000, requestsPerDay: 1_000_000 };

/** The fields of a new or an existing account. */
export function AccountForm({
  edited,
  problem,
  onSubmit,
  ...form
}: {
  edited?: Required<AccountDraft>;
  /** The verb of its button. */
  action: string;
  isBusy: boolean;
  problem: Problem | undefined;
  onSubmit(draft: AccountDraft): void;
  onCancel(): void;
}) {
  const own = edited?.plan === 'ENTERPRISE' ? edited : OFFERED;
  const [name, setName] = useState(edited?.name ?? '');
  const [plan, setPlan] = useState<Plan>(edited?.plan ?? 'FREE');
  const [perMinute, setPerMinute] = useState(String(own.requestsPerMinute));
  const [perDay, setPerDay] = useState(String(own.requestsPerDay));
  const isEnterprise = plan === 'ENTERPRISE';
  const isReady = name.trim() !== '' && (!isEnterprise || (isLimit(perMinute) && isLimit(perDay)));
  const submit = () =>
    onSubmit({
      name,
      plan,
      ...(isEnterprise && {
        requestsPerMinute: Number(perMinute),
        requestsPerDay: Number(perDay),
      }),
    });
  return (
    <DialogForm
      {...form}
      problem={problem}
      unavailable={!isReady && 'Give the account a name, and whole numbers as limits.'}
      onSubmit={submit}
    >
      <TextField
        label="Name"
        placeholder="ACME"
        required
        maxLength={200}
        value={name}
        error={detailFor(problem, 'input.name')}
        onChange={({ target }) => setName(target.value)}
      />
      <SelectField
        label="Plan"
        value={plan}
        hint={PLANS.find((one) => one.plan === plan)?.allows}
        onChange={({ target }) => setPlan(target.value as Plan)}
      >
        {PLANS.map((one) => (
          <option key={one.plan} value={one.plan}>
            {one.name}
          </option>
        ))}
      </SelectField>
      {isEnterprise && (
        <>
          <Limit
            label="Requests a minute"
            value={perMinute}
            error={detailFor(problem, 'input.requestsPerMinute')}
            onChange={setPerMinute}
          />
          <Limit
            label="Requests a day"
            value={perDay}
            error={detailFor(problem, 'input.requestsPerDay')}
            onChange={setPerDay}
          />
        </>
      )}
    </DialogForm>
  );
}

function Limit({
  label,
  value,
  error,
  onChange,
}: {
  label: string;
  value: string;
  error: string | undefined;
  onChange(value: string): void;
}) {
  return (
    <TextField
      label={label}
      type="number"
      inputMode="numeric"
      min={1}
      step={1}
      required
      value={value}
      error={error ?? (isLimit(value) ? undefined : 'A whole number from 1 to 1,000,000,000.')}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

function isLimit(text: string): boolean {
  return /^\d{1,10}$/.test(text) && Number(text) >= 1 && Number(text) <= 1_000_000_000;
}
