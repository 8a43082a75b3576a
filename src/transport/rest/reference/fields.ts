import { type Html, html, inline } from '../../html.ts';
import type { Schema } from './model.ts';

/** How many values are told one by one. */
const MAX_VALUES = 8;

/** The fields of an object, those of the objects in it below them. */
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

/** One line of a table: of a field, a parameter or a header. */
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
<td>${inline(description)}${defaultOf(schema)}</td>
</tr>`;
}

/** A type in words, or the values that there are. */
export function typeOf({ type, enum: values, const: only, items, anyOf, format }: Schema): Html {
  if (only !== undefined) return html`<code>${JSON.stringify(only)}</code>`;
  if (values && values.length > MAX_VALUES) return html`string`;
  if (values) return html`${values.map((value) => html`<code>${String(value)}</code> `)}`;
  if (anyOf) return html`${anyOf.map((one, index) => html`${index > 0 && ' or '}${typeOf(one)}`)}`;
  if (items) return html`array of ${typeOf(items)}`;
  return html`${[type ?? 'anything'].flat().join(' or ')}${format && ` (${format})`}`;
}

function defaultOf({ default: value }: Schema): Html | undefined {
  const isPlain = typeof value === 'string' || typeof value === 'number';
  return isPlain || value === false ? html` Default: <code>${String(value)}</code>.` : undefined;
}
