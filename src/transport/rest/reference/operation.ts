import { type Html, html, inline, markdown } from '../../html.ts';
import { fieldsTable, row } from './fields.ts';
import type { Media, Operation, Response } from './model.ts';
import { tryForm } from './try-form.ts';

export function operationSection(operation: Operation, origin: Html | string): Html {
  const { operationId, method, path, summary, description, parameters, requestBody } = operation;
  const body = requestBody?.content['application/json'];
  return html`<section class="operation" id="${operationId}">
<h3><a href="#${operationId}">${summary}</a></h3>
<p class="route"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
${markdown(description)}
<p class="scope">${scopeOf(operation)}</p>
${parameters.length > 0 && parametersTable(operation)}
${body && html`<h4>Body${!requestBody?.required && ' (optional)'}</h4>${fieldsTable(body.schema, 'request')}`}
<h4>Example with curl</h4>
<pre tabindex="0"><code>${curlOf(operation, origin)}</code></pre>
${tryForm(operation)}
<h4>Responses</h4>
${Object.entries(operation.responses).map(([status, response]) => answer(status, response))}
</section>`;
}

function scopeOf({ security }: Operation): Html {
  if (security?.length === 0) return html`Requires no API key.`;
  const scopes = (security ?? []).flatMap(({ apiKey = [] }) => apiKey);
  if (scopes.length === 0) return html`Requires an API key with access to the bot.`;
  return html`Requires an API key with the scope ${scopes.map(
    (scope, index) => html`${index > 0 && ' or '}<code>${scope}</code>`,
  )}.`;
}

function parametersTable({ parameters }: Operation): Html {
  const places = { path: 'Path parameters', query: 'Query parameters', header: 'Headers' } as const;
  return html`${Object.entries(places).map(([place, title]) => {
    const found = parameters.filter((parameter) => parameter.in === place);
    return (
      found.length > 0 &&
      html`<h4>${title}</h4>
<table><thead><tr><th>Name</th><th>Type</th><th>Description</th></tr></thead><tbody>
${found.map((parameter) => row({ ...parameter, mark: parameter.required ? 'required' : undefined }))}
</tbody></table>`
    );
  })}`;
}

/** Successful responses are expanded. The summary of an error response lists its codes. */
function answer(status: string, { description, headers, content }: Response): Html {
  const isError = status >= '400';
  const codes = Object.keys(content['application/json']?.examples ?? {});
  return html`<details class="answer"${!isError && html` open`}>
<summary><span class="status ${isError && 'error'}">${status}</span> ${
    isError ? codes.map((code) => html`<code>${code}</code> `) : inline(description)
  }</summary>
${isError && markdown(description)}
${Object.entries(content).map(([type, media]) => contentOf(type, media, isError))}
<p class="headers">Headers: ${Object.keys(headers).map((name) => html`<code>${name}</code> `)}</p>
</details>`;
}

function contentOf(
  type: string,
  { schema, example, examples = {} }: Media,
  isError: boolean,
): Html {
  const frames = schema.contentSchema?.items?.anyOf;
  const shown = Object.values(examples).map(({ value }) => value);
  return html`<h5><code>${type}</code></h5>
${schema.contentSchema && markdown(schema.description)}
${!isError && schema.properties && fieldsTable(schema, 'response')}
${frames?.map((frame) => html`${frame.description && markdown(frame.description)}${fieldsTable(frame, 'response')}`)}
${(example === undefined ? shown : [example]).slice(0, isError ? 1 : undefined).map(code)}`;
}

function code(value: unknown): Html {
  return html`<pre tabindex="0"><code>${typeof value === 'string' ? value.trimEnd() : JSON.stringify(value, null, 2)}</code></pre>`;
}

/** The request as a curl command. */
function curlOf(
  { method, path, parameters, requestBody, responses, security }: Operation,
  origin: Html | string,
): Html {
  const filled = parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce(
      (text, { name, schema }) => text.replace(`{${name}}`, String(schema.examples?.[0] ?? name)),
      path,
    );
  const query = new URLSearchParams(
    parameters.flatMap(({ in: place, name, required, schema }) =>
      place === 'query' && required ? [[name, String(schema.examples?.[0] ?? '')]] : [],
    ),
  );
  const body = requestBody?.content['application/json']?.example;
  const isStream = 'text/event-stream' in (responses['200']?.content ?? {});
  const options = `${isStream ? '-N ' : ''}${method === 'GET' || body ? '' : `-X ${method} `}`;
  const address = `${filled}${query.size > 0 ? `?${query}` : ''}`;
  const rest = [
    '',
    ...(security?.length === 0 ? [] : ['-H "Authorization: Bearer $PARLEY_API_KEY"']),
    ...(body ? ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`] : []),
  ].join(' \\\n  ');
  return html`curl ${options}'${origin}${address}'${rest}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
