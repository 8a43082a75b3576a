/** The header by which a service recognizes a repeated request. Source: draft-ietf-httpapi-idempotency-key-header. */
export const IDEMPOTENCY_KEY = 'idempotency-key';

const OWN_KEY = /^tcl_[0-9a-hjkmnp-tv-z]{26}$/;

/** Whether a header is a key that Parley has made. A key of the definition's own may hold a secret. */
export function isOwnKey(name: string, value: string): boolean {
  return name === IDEMPOTENCY_KEY && OWN_KEY.test(value);
}
