import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ERROR_STATUS } from '../../../errors.ts';
import { ERROR_MEANING } from '../openapi/errors.ts';
import { row } from './fields.ts';
import { type Html, html, inline, markdown } from './html.ts';
import { type Model, readDocument } from './model.ts';
import { operationSection } from './operation.ts';

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
const style = read('./reference.css');
const script = read('./reference.js');
const sourceOf = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`;

/** Where this server's origin belongs. */
export const ORIGIN = 'https://origin.invalid';

/** Lets the page have what is in it, and ask this server alone. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src ${sourceOf(style)}`,
  `script-src ${sourceOf(script)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The reference of the REST interface, as one page that needs nothing else.
 *
 * @param document the OpenAPI document: what is not in it is not on the page.
 * @returns HTML, in which `ORIGIN` stands for this server's origin, as the reader has it.
 */
export function renderPage(document: unknown): string {
  const model = readDocument(document);
  const { info, tags, headers, operations } = model;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title}: the REST interface</title>
<link rel="icon" href="data:,">
<style>${{ html: style }}</style>
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
${operations.filter(({ tags: [tag] }) => tag === name).map((one) => operationSection(one, ORIGIN))}
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
<script>${{ html: script }}</script>
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
