import { DEFAULTS, type HttpMethod, type HttpRequest } from '../definition.ts';
import type { Member } from '../syntax.ts';
import { checkHeaders } from './headers.ts';
import { settingsOf } from './names.ts';
import { checkTemplate, NO_TEMPLATE, type Scope } from './templates.ts';
import { checkUrl } from './urls.ts';
import { type Check, DURATION, numberOf, stringsOf } from './values.ts';

/** The HTTP methods by keyword. */
export const METHODS = new Map<string, HttpMethod>([
  ['get', 'GET'],
  ['post', 'POST'],
  ['put', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
]);

/** request = ( "get" | "post" | "put" | "patch" | "delete" ) STRING [ "{" { http_setting } "}" ] ; */
export function checkRequest(member: Member | undefined, scope: Scope, check: Check): HttpRequest {
  const [token] = stringsOf(member);
  const url = token && checkTemplate(token, scope, check);
  if (url) checkUrl(url, token, check);
  const settings = settingsOf(member?.block, check);
  return {
    method: METHODS.get(member?.word ?? '') ?? 'GET',
    url: url?.template ?? NO_TEMPLATE,
    headers: checkHeaders(settings.all('header'), scope, check),
    timeout: numberOf(settings.get('timeout'), DURATION, check) ?? DEFAULTS.requestTimeout,
  };
}
