import { isRecord } from '../../server/record.ts';

type Kind = 'string' | 'number' | 'integer' | 'boolean' | 'choice' | 'list';

/** An argument of a capability, for a form. */
export type ArgumentField = {
  name: string;
  kind: Kind;
  description: string | undefined;
  isRequired: boolean;
  choices: string[];
  /** The value from the model; absent if it left the argument out. */
  original: unknown;
};

/** The texts of the fields by their names. An absent one is unchanged. */
export type Draft = Readonly<Record<string, string>>;

type ArgumentsReading = {
  /** All arguments. Absent if none differs from the model's. */
  edited?: Record<string, unknown> | undefined;
  /** The names of the changed arguments. */
  changed: string[];
  /** The problems by the names of the fields. */
  faults: Readonly<Record<string, string>>;
};

/** The fields of a schema of arguments. `undefined` if a form cannot show the schema or the arguments. */
export function fieldsOf(
  schema: unknown,
  given: Record<string, unknown>,
): ArgumentField[] | undefined {
  if (!isRecord(schema) || !isRecord(schema.properties)) return undefined;
  const { properties } = schema;
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const fields = Object.entries(properties).map(([name, property]) => {
    const kind = isRecord(property) ? kindOf(property) : undefined;
    if (!isRecord(property) || !kind) return undefined;
    const { description, enum: choices } = property;
    return {
      name,
      kind,
      description: typeof description === 'string' ? description : undefined,
      isRequired: required.includes(name),
      choices: Array.isArray(choices) ? choices.map(String) : [],
      original: given[name],
    };
  });
  const known = fields.filter((field) => field !== undefined);
  const isWhole = known.length === fields.length;
  const hasAll = Object.keys(given).every((name) => Object.hasOwn(properties, name));
  return isWhole && hasAll && known.every(isShown) ? known : undefined;
}

function kindOf({ type, enum: choices }: Record<string, unknown>): Kind | undefined {
  if (Array.isArray(choices)) return 'choice';
  if (type === 'array') return 'list';
  return (['string', 'number', 'integer', 'boolean'] as const).find((kind) => kind === type);
}

/** Whether a field can hold the value from the model. */
function isShown({ kind, original }: ArgumentField): boolean {
  if (original === undefined) return true;
  if (kind === 'list') return Array.isArray(original);
  if (kind === 'string' || kind === 'choice') return typeof original === 'string';
  return typeof original === (kind === 'boolean' ? 'boolean' : 'number');
}

/** The text of a field before a change. */
export function originalText({ original }: ArgumentField): string {
  if (original === undefined) return '';
  return typeof original === 'string' ? original : JSON.stringify(original);
}

/** Reads the texts of the fields. */
export function readFields(fields: ArgumentField[], draft: Draft): ArgumentsReading {
  const changed: string[] = [];
  const faults: Record<string, string> = {};
  const entries = fields.flatMap((field): [string, unknown][] => {
    const { name, original } = field;
    const text = draft[name];
    if (text === undefined || text === originalText(field))
      return original === undefined ? [] : [[name, original]];
    changed.push(name);
    if (text === '' && !field.isRequired) return [];
    const reading = readText(field, text);
    if ('fault' in reading) faults[name] = reading.fault;
    return 'fault' in reading ? [] : [[name, reading.value]];
  });
  return { changed, faults, edited: changed.length > 0 ? Object.fromEntries(entries) : undefined };
}

function readText({ kind }: ArgumentField, text: string): { value: unknown } | { fault: string } {
  if (kind === 'string' || kind === 'choice') return { value: text };
  const fault = {
    number: 'Type a number, such as 12.5.',
    integer: 'Type a whole number.',
    boolean: 'Choose true or false.',
    list: 'Type a list in JSON, such as ["a", "b"].',
  }[kind];
  try {
    const value: unknown = JSON.parse(text);
    const fits = {
      number: typeof value === 'number' && Number.isFinite(value),
      integer: Number.isSafeInteger(value),
      boolean: typeof value === 'boolean',
      list: Array.isArray(value),
    }[kind];
    return fits ? { value } : { fault };
  } catch {
    return { fault };
  }
}

/** Reads the arguments from one text of JSON. */
export function readJson(text: string, given: Record<string, unknown>): ArgumentsReading {
  const name = 'arguments';
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value))
      return { changed: [name], faults: { [name]: 'The arguments must be a JSON object.' } };
    const isSame = JSON.stringify(value) === JSON.stringify(given);
    return isSame ? { changed: [], faults: {} } : { changed: [name], faults: {}, edited: value };
  } catch {
    return { changed: [name], faults: { [name]: 'This is not valid JSON.' } };
  }
}
