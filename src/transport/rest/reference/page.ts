import { ERROR_CODES, ERRORS, type ErrorCode } from '../../../errors/errors.ts';
import { framePage } from '../../console/page-frame.ts';
import { type Html, html, inline, markdown } from '../../html.ts';
import { meaningOf } from '../openapi/errors.ts';
import { row } from './fields.ts';
import { type Model, readDocument } from './model.ts';
import { operationSection } from './operation.ts';

/** Placeholder for the origin in examples. The page's script replaces it with its own origin. */
const UNKNOWN_ORIGIN = 'http://localhost:4000';

/**
 * Renders the REST API reference as one page.
 *
 * @param document the OpenAPI document, the only source of the page.
 * @param files the URLs of the page's style sheet and script.
 * @param publicUrl the URL of this server for the examples, if the operator configured it.
 * @returns HTML that does not depend on the request.
 */
export function renderPage(
  document: unknown,
  files: { style: string; script: string },
  publicUrl: string | undefined,
): string {
  const origin = publicUrl ?? html`<span class="origin">${UNKNOWN_ORIGIN}</span>`;
  const model = readDocument(document);
  const { info, tags, headers, operations } = model;
  const contents = navigation(model);
  return framePage({
    screen: 'rest',
    head: html`<link rel="stylesheet" href="${files.style}">
<script defer src="${files.script}"></script>`,
    actions: html`<a href="/v1/openapi.json">OpenAPI document</a>`,
    content: html`<div class="reference">
<aside class="reference-side">${contents}</aside>
<details class="reference-fold"><summary>Contents</summary>${contents}</details>
<article class="reference-article">
<p class="lead">${inline(info.summary)}</p>
${markdown(info.description)}
<p>The <a href="/graphql">GraphQL API</a> offers more operations. The <a href="/guide/rest">guide</a> explains this one.</p>
<form class="key"><label for="key">API key for the forms on this page</label>
<input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="parley_sk_…">
<div id="session-key"></div>
<p>The key is sent only to this server and is not stored. REST takes API keys only, never the console's session.</p></form>
${tags.map(
  ({ name, description }) => html`<section id="tag-${name}"><h2>${name}</h2>${markdown(description)}
${operations.filter(({ tags: [tag] }) => tag === name).map((one) => operationSection(one, origin))}
</section>`,
)}
<section id="headers"><h2>Response headers</h2>
<table><thead><tr><th>Header</th><th>Type</th><th>Description</th></tr></thead><tbody>
${Object.entries(headers).map(([name, header]) => row({ name, ...header }))}
</tbody></table></section>
<section id="errors"><h2>Errors</h2>
${markdown('Every error response has the form `{"error": {"code", "message", "retry_after"?, "details"?, "request_id"}}` and one of these codes.')}
<table><thead><tr><th>Code</th><th>Status</th><th>Meaning</th></tr></thead><tbody>
${ERROR_CODES.map(errorRow)}
</tbody></table></section>
</article>
</div>`,
  });
}

function navigation({ tags, operations }: Model): Html {
  return html`<nav aria-label="Contents">
<ul>${tags.map(
    ({ name }) =>
      html`<li><a href="#tag-${name}">${name}</a><ul>${operations
        .filter(({ tags: [tag] }) => tag === name)
        .map(
          ({ operationId, summary }) =>
            html`<li><a class="reference-operation" href="#${operationId}">${summary}</a></li>`,
        )}</ul></li>`,
  )}
<li><a href="#headers">Response headers</a></li>
<li><a href="#errors">Errors</a></li></ul>
</nav>`;
}

function errorRow(code: ErrorCode): Html {
  return html`<tr><td><code>${code}</code></td><td class="type">${ERRORS[code].status}</td><td>${inline(meaningOf(code))}</td></tr>`;
}
