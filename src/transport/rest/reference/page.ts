import { ERROR_STATUS } from '../../../errors.ts';
import { type Html, html, inline, markdown } from '../../html.ts';
import { ERROR_MEANING } from '../openapi/errors.ts';
import { row } from './fields.ts';
import { type Model, readDocument } from './model.ts';
import { operationSection } from './operation.ts';

/** Stands for this server's origin until the page's script puts in the address that it was loaded from. */
const UNKNOWN_ORIGIN = 'http://localhost:4000';

/**
 * The reference of the REST interface, as one page.
 *
 * @param document the OpenAPI document: what is not in it is not on the page.
 * @param files the addresses of the page's style sheet and script.
 * @param publicUrl the address of this server, for the examples, where the operator has set it.
 * @returns HTML, the same for every reader: nothing of a request is in it.
 */
export function renderPage(
  document: unknown,
  files: { style: string; script: string },
  publicUrl: string | undefined,
): string {
  const origin = publicUrl ?? html`<span class="origin">${UNKNOWN_ORIGIN}</span>`;
  const model = readDocument(document);
  const { info, tags, headers, operations } = model;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title}: the REST interface</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${files.style}">
</head>
<body>
${navigation(model)}
<main>
<header>
<h1>${info.title}</h1>
<p class="lead">${inline(info.summary)}</p>
${markdown(info.description)}
<p>For programs: <a href="/v1/openapi.json">/v1/openapi.json</a>. For questions that REST does not answer: <a href="/graphql">GraphQL</a>.</p>
<form class="key"><label for="key">API key, to try things here</label>
<input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="parley_sk_…">
<p>It is sent to this server alone, and forgotten when you leave the page.</p></form>
</header>
${tags.map(
  ({ name, description }) => html`<section id="tag-${name}"><h2>${name}</h2>${markdown(description)}
${operations.filter(({ tags: [tag] }) => tag === name).map((one) => operationSection(one, origin))}
</section>`,
)}
<section id="headers"><h2>Headers of answers</h2>
<table><thead><tr><th>Header</th><th>Type</th><th></th></tr></thead><tbody>
${Object.entries(headers).map(([name, header]) => row({ name, ...header }))}
</tbody></table></section>
<section id="errors"><h2>Errors</h2>
${markdown('Every error has the same form, `{"error": {"code", "message", "retry_after"?, "details"?, "request_id"}}`, and a code of this list.')}
<table><thead><tr><th>Status</th><th>Code</th><th></th></tr></thead><tbody>
${Object.entries(ERROR_MEANING).map(([code, meaning]) => errorRow(code, meaning))}
</tbody></table></section>
</main>
<script src="${files.script}"></script>
</body>
</html>
`.html;
}

function navigation({ info, tags, operations }: Model): Html {
  return html`<nav aria-label="Contents">
<p><a href="#">${info.title}</a></p>
<ul>${tags.map(
    ({ name }) =>
      html`<li><a href="#tag-${name}">${name}</a><ul>${operations
        .filter(({ tags: [tag] }) => tag === name)
        .map(
          ({ operationId, summary }) => html`<li><a href="#${operationId}">${summary}</a></li>`,
        )}</ul></li>`,
  )}
<li><a href="#headers">Headers of answers</a></li>
<li><a href="#errors">Errors</a></li></ul>
</nav>`;
}

const statuses = new Map<string, number>(Object.entries(ERROR_STATUS));

function errorRow(code: string, meaning: string): Html {
  return html`<tr><td>${statuses.get(code)}</td><td><code>${code}</code></td><td>${inline(meaning)}</td></tr>`;
}
