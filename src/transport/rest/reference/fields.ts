import { type Html, html, inline } from '../../html.ts';
import type { Schema } from './model.ts';

/** Enums with more values are shown as `string`. */
const MAX_VALUES = 8;

type Side = 'request' | 'response';

/**
 * A table of the fields of an object, in which the fields of a nested object follow it. Marks the required fields of a
 * request and the optional fields of a response.
 */
export function fieldsTable(schema: Schema, side: Side): Html {
  return html`<table>
<thead><tr><th>Field</th><th>Type</th><th>Description</th></tr></thead>
<tbody>${rowsOf(schema, side)}</tbody>
</table>`;
}

function rowsOf({ properties = {}, required }: Schema, side: Side, prefix = ''): Html[] {
  return Object.entries(properties).flatMap(([name, field]) => [
    row({ name: prefix + name, mark: markOf(side, required.includes(name)), schema: field }),
    ...rowsOf(field, side, `${prefix + name}.`),
    ...(field.items ? rowsOf(field.items, side, `${prefix + name}[].`) : []),
  ]);
}

function markOf(side: Side, isRequired: boolean): Mark | undefined {
  if (side === 'request') return isRequired ? 'required' : undefined;
  return isRequired ? undefined : 'optional';
}

type Mark = 'required' | 'optional';

/** A table row for a field, parameter or header. */
export function row(given: {
  name: string;
  mark?: Mark | undefined;
  schema: Schema;
  description?: string;
}): Html {
  const { name, mark, schema, description = schema.description } = given;
  return html`<tr>
<td><code>${name}</code>${mark && html` <span class="${mark}">${mark}</span>`}</td>
<td class="type">${typeOf(schema)}</td>
<td>${inline(description)}</td>
</tr>`;
}

/** The name of a type, or the values of an enum. */
export function typeOf({ type, enum: values, const: only, items, anyOf, format }: Schema): Html {
  if (only !== undefined) return html`<code>${JSON.stringify(only)}</code>`;
  if (values && values.length > MAX_VALUES) return html`string`;
  if (values) return html`${values.map((value) => html`<code>${String(value)}</code> `)}`;
  if (anyOf) return html`${anyOf.map((one, index) => html`${index > 0 && ' or '}${typeOf(one)}`)}`;
  if (items) return html`array of ${typeOf(items)}`;
  return html`${[type ?? 'anything'].flat().join(' or ')}${format && ` (${format})`}`;
}
