import { ModelError, withDetail } from '../model/failure.ts';
import type { Redactor } from '../redaction/redact.ts';
import { toStorable } from '../text/characters.ts';

/** Characters kept of a model name and a finish reason. The server chooses both. */
export const MAX_SERVER_TEXT = 256;
/** Characters kept of what a model server answered to a failed call. */
export const MAX_DETAIL = 512;
/** Characters shown of a tool name that the model invented. */
const MAX_NAME = 64;
/** Characters to escape. Brackets stay because a redacted variable appears as `[env.NAME]`. */
const UNSAFE = /[^A-Za-z0-9_.[\]-]/g;

/**
 * Truncates text from an untrusted server to `length` characters, redacted and storable. The cut never leaves a partial
 * secret at the end.
 */
export function shorten(text: string, length: number, redactor: Redactor): string {
  const safe =
    text.length > length
      ? redactor.stream().push(text.slice(0, length))
      : redactor.redact(text).slice(0, length);
  return toStorable(safe);
}

/** Makes a tool name that the model invented safe to show: redacts it, truncates it to 64 characters and escapes it. */
export function displayName(name: string, redactor: Redactor): string {
  const escaped = shorten(name, MAX_NAME, redactor).replaceAll(
    UNSAFE,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return name.length > MAX_NAME ? `${escaped}...` : escaped;
}

/**
 * Redacts and truncates what a model server answered to a failed call. Another error stays as it is.
 *
 * @param host of the server, which the detail names if the server cannot be reached. Absent: it stays secret.
 */
export function redactFailure(error: unknown, redactor: Redactor, host?: string): unknown {
  if (!(error instanceof ModelError)) return error;
  const named = host && error.reason === 'unreachable' ? withHost(error, host) : error;
  return withDetail(named, (detail) => shorten(detail, MAX_DETAIL, redactor));
}

function withHost({ code, reason, message, detail, status, cause }: ModelError, host: string) {
  const text = detail === undefined ? host : `${host}: ${detail}`;
  return new ModelError(code, reason, message, { detail: text, status, cause });
}
