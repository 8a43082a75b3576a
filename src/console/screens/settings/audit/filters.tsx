import { useEffect, useId, useState } from 'react';
import type { ListedKeyFragment } from '../../../../generated/operations/console.ts';
import { Button } from '../../../parts/button.tsx';
import { SelectField, TextField } from '../../../parts/field.tsx';
import { isEnter } from '../../../parts/is-enter.ts';
import { useBotNames } from '../../../server/bot-names.ts';
import { ACTIONS, type AuditAddress } from './filter.ts';

/** The conditions on the entries of the audit log. */
export function Filters({
  address,
  keys,
  onChange,
}: {
  address: AuditAddress;
  keys: Pick<ListedKeyFragment, 'id' | 'name' | 'prefix'>[];
  onChange(change: Partial<AuditAddress>): void;
}) {
  const isFiltered = Object.values(address).some((value) => value !== '');
  return (
    <search className="settings-filters">
      <SelectField
        label="Action"
        value={address.action}
        onChange={({ target }) => onChange({ action: target.value })}
      >
        <option value="">All actions</option>
        {Object.entries(ACTIONS).map(([action, text]) => (
          <option key={action} value={action.toLowerCase()}>
            {text}
          </option>
        ))}
      </SelectField>
      <SelectField
        label="Key"
        value={address.key}
        onChange={({ target }) => onChange({ key: target.value })}
      >
        <option value="">All keys</option>
        <Other value={address.key} known={keys} />
        {keys.map(({ id, name, prefix }) => (
          <option key={id} value={id}>
            {name} ({prefix}…)
          </option>
        ))}
      </SelectField>
      <BotFilter value={address.bot} onChange={(bot) => onChange({ bot })} />
      <TextField
        label="From"
        type="date"
        value={address.from}
        onChange={({ target }) => onChange({ from: target.value })}
      />
      <TextField
        label="To"
        type="date"
        value={address.to}
        onChange={({ target }) => onChange({ to: target.value })}
      />
      {isFiltered && (
        <Button
          look="quiet"
          onClick={() => onChange({ action: '', key: '', bot: '', from: '', to: '' })}
        >
          Clear
        </Button>
      )}
    </search>
  );
}

/** The id of a bot. It applies once it is chosen from the list, or when the field is left or sent by Enter. */
function BotFilter({ value, onChange }: { value: string; onChange(bot: string): void }) {
  const list = useId();
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const { bots = [] } = useBotNames(typed);
  const apply = (bot: string) => bot !== value && onChange(bot);
  return (
    <>
      <TextField
        label="Bot"
        type="search"
        placeholder="All bots"
        list={list}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          if (target.value === '' || bots.some(({ id }) => id === target.value))
            apply(target.value);
        }}
        onBlur={() => apply(typed.trim())}
        onKeyDown={(event) => isEnter(event) && apply(typed.trim())}
      />
      <datalist id={list}>
        {bots.map(({ id, name }) => (
          <option key={id} value={id} label={name} />
        ))}
      </datalist>
    </>
  );
}

/** The chosen key, if the list does not have it: a deleted key. */
function Other({ value, known }: { value: string; known: { id: string }[] }) {
  if (value === '' || known.some(({ id }) => id === value)) return null;
  return <option value={value}>{value}</option>;
}
