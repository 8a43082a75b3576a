import { type Html, html } from '../../html.ts';
import type { Operation } from './model.ts';

/** A form that sends the request from the page. `reference.js` handles it. */
export function tryForm({ operationId, method, path, parameters, requestBody }: Operation): Html {
  const body = requestBody?.content['application/json']?.example;
  return html`<details class="try">
<summary>Run this example</summary>
<form data-method="${method}" data-path="${path}">
${parameters.map((parameter) => {
  const { in: place, name, required, schema } = parameter;
  const id = `${operationId}-${place}-${name}`;
  return html`<label for="${id}">${name}${required && ' *'}</label>
${schema.enum ? choice(id, parameter) : field(id, parameter)}`;
})}
${
  body !== undefined &&
  html`<label for="${operationId}-body">Body</label>
<textarea id="${operationId}-body" data-in="body" rows="8" spellcheck="false">${JSON.stringify(body, null, 2)}</textarea>`
}
<div class="buttons"><button type="submit">Send</button> <button type="button" class="stop" disabled>Stop</button></div>
<pre class="result" tabindex="0" aria-live="polite" hidden><code></code></pre>
</form>
</details>`;
}

type Parameter = Operation['parameters'][number];

function field(id: string, { in: place, name, required, schema, example }: Parameter): Html {
  const shown = String(example ?? schema.examples?.[0] ?? '');
  return html`<input id="${id}" data-in="${place}" name="${name}" ${required && html`required `}${
    required ? html`value="${shown}"` : html`placeholder="${shown}"`
  } autocomplete="off" spellcheck="false">`;
}

/** The values of an enum. The first choice omits an optional parameter. */
function choice(id: string, { in: place, name, required, schema }: Parameter): Html {
  return html`<select id="${id}" data-in="${place}" name="${name}">
${!required && html`<option value="">not sent</option>`}
${schema.enum?.map((value) => html`<option>${String(value)}</option>`)}
</select>`;
}
