import {
  BODY_FORMATS,
  type BodyFormat,
  DEFAULTS,
  type HttpMethod,
  type HttpRequest,
} from '../definition.ts';
import type { Member } from '../syntax.ts';
import { checkHeaders } from './headers.ts';
import { checkNames, settingsOf } from './names.ts';
import { checkDeclared, checkTemplate, NO_TEMPLATE, type Scope } from './templates.ts';
import { checkUrl } from './urls.ts';
import { type Check, DURATION, namesOf, numberOf, stringsOf } from './values.ts';

/** The HTTP methods by keyword. */
export const METHODS = new Map<string, HttpMethod>([
  ['get', 'GET'],
  ['post', 'POST'],
  ['put', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
]);

/** Replaces a request that could not be parsed. */
export const NO_REQUEST: HttpRequest = {
  method: 'GET',
  url: NO_TEMPLATE,
  headers: [],
  body: 'none',
  query: [],
  timeout: DEFAULTS.requestTimeout,
};

/** request = ( "get" | "post" | "put" | "patch" | "delete" ) STRING [ "{" { http_setting } "}" ] ; */
export function checkRequest(member: Member, scope: Scope, check: Check): HttpRequest {
  const [token] = stringsOf(member);
  const url = token && checkTemplate(token, scope, check);
  if (url) checkUrl(url, token, check);
  const settings = settingsOf(member.block, check);
  const method = METHODS.get(member.word) ?? 'GET';
  return {
    method,
    url: url?.template ?? NO_TEMPLATE,
    headers: checkHeaders(settings.all('header'), scope, check),
    body: settings.read('body', (setting) => checkBody(setting, method, check)) ?? bodyOf(method),
    query: settings.read('query', (setting) => checkQuery(setting, scope, check)) ?? [],
    timeout:
      settings.read('timeout', (setting) => numberOf(setting, DURATION, check)) ??
      DEFAULTS.requestTimeout,
  };
}

/** The format of a body if none is set. */
function bodyOf(method: HttpMethod): BodyFormat {
  return method === 'GET' || method === 'DELETE' ? 'none' : 'json';
}

/** "body" ( "json" | "form" | "none" ) */
function checkBody(member: Member, method: HttpMethod, check: Check): BodyFormat | undefined {
  const [token] = namesOf(member);
  const format = BODY_FORMATS.find((name) => name === token?.text);
  if (token && method === 'GET' && format !== 'none') {
    const message = 'a "get" request has no body, its inputs are sent as query';
    check.report('unexpected-body', token, message);
  }
  return format;
}

/** "query" NAME { "," NAME } */
function checkQuery(member: Member, { inputs = 'unknown' }: Scope, check: Check): string[] {
  const names = namesOf(member);
  checkNames(names, check);
  for (const name of names) checkDeclared('input', name.text, name, inputs, check);
  return names.map(({ text }) => text);
}
