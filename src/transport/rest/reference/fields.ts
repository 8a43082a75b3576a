import { type Html, html, inline } from '../../html.ts';
import type { Schema } from './model.ts';

/** Enums with more values are shown as `string`. */
const MAX_VALUES = 8;

/** A table of an object's fields. Fields of nested objects follow their parent. */
export function fieldsTable(schema: Schema): Html {
  return html`<table>
<thead><tr><th>Field</th><th>Type</th><th></th></tr></thead>
<tbody>${rowsOf(schema)}</tbody>
</table>`;
}

function rowsOf({ properties = {}, required }: Schema, prefix = ''): Html[] {
  return Object.entries(properties).flatMap(([name, field]) => [
    row({ name: prefix + name, required: required.includes(name), schema: field }),
    ...rowsOf(field, `${prefix + name}.`),
    ...(field.items ? rowsOf(field.items, `${prefix + name}[].`) : []),
  ]);
}

/** A table row for a field, parameter or header. */
export function row(given: {
  name: string;
  required?: boolean;
  schema: Schema;
  description?: string;
}): Html {
  const { name, required, schema, description = schema.description } = given;
  return html`<tr>
<td><code>${name}</code>${required && html` <span class="required" title="required">*</span>`}</td>
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
