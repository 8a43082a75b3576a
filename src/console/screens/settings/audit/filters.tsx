import { BotNames, type ListedKeyFragment } from '../../../../operations/console/operations.ts';
import { Button } from '../../../parts/button.tsx';
import { SelectField, TextField } from '../../../parts/field.tsx';
import { useServerQuery } from '../../../server/operations.ts';
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
  const { data } = useServerQuery(BotNames, { first: 100, after: null });
  const bots = data?.bots.edges.map(({ node }) => node) ?? [];
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
      <SelectField
        label="Bot"
        value={address.bot}
        onChange={({ target }) => onChange({ bot: target.value })}
      >
        <option value="">All bots</option>
        <Other value={address.bot} known={bots} />
        {bots.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
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

/** The chosen value, if the list does not have it: a deleted bot, or one of a later page. */
function Other({ value, known }: { value: string; known: { id: string }[] }) {
  if (value === '' || known.some(({ id }) => id === value)) return null;
  return <option value={value}>{value}</option>;
}
