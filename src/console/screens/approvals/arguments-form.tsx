import { SelectField, TextArea, TextField } from '../../parts/field.tsx';
import { type ArgumentField, type Draft, originalText } from './argument-fields.ts';

/** Characters of a text above which its field has several lines. */
const LONG = 60;

/** The arguments of a call, one field each. */
export function ArgumentsForm({
  fields,
  draft,
  faults,
  onChange,
}: {
  fields: ArgumentField[];
  draft: Draft;
  faults: Readonly<Record<string, string>>;
  onChange(draft: Draft): void;
}) {
  return (
    <div className="approval-fields">
      {fields.map((field) => (
        <Argument
          key={field.name}
          field={field}
          text={draft[field.name] ?? originalText(field)}
          fault={faults[field.name]}
          onChange={(text) => onChange({ ...draft, [field.name]: text })}
        />
      ))}
    </div>
  );
}

function Argument({
  field,
  text,
  fault,
  onChange,
}: {
  field: ArgumentField;
  text: string;
  fault: string | undefined;
  onChange(text: string): void;
}) {
  const { name, kind, isRequired, choices, description } = field;
  const isChanged = text !== originalText(field);
  const hint = [
    isChanged ? `was ${originalText(field) || 'left out'}` : kind === 'choice' ? '' : kind,
    !isRequired && kind !== 'choice' && kind !== 'boolean' && 'left out if empty',
    description,
  ];
  const props = {
    label: name,
    hint: hint.filter(Boolean).join(' · '),
    error: fault,
    value: text,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  };
  if (kind === 'choice' || kind === 'boolean') {
    const options = kind === 'choice' ? choices : ['true', 'false'];
    const isMissing = text !== '' && !options.includes(text);
    return (
      <SelectField {...props}>
        {(!isRequired || text === '') && <option value="">not sent</option>}
        {isMissing && <option value={text}>{text}</option>}
        {options.map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
      </SelectField>
    );
  }
  if (kind === 'list' || originalText(field).length > LONG || text.includes('\n'))
    return <TextArea isMono {...props} rows={2} />;
  return <TextField isMono {...props} inputMode={kind === 'string' ? 'text' : 'decimal'} />;
}
