/** Restricts pages to resources from this server, and forbids inline scripts. */
const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'form-action': "'self'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'",
  'require-trusted-types-for': "'script'",
};

/**
 * The headers of every page. Browsers must revalidate a cached page before each use.
 *
 * @param exceptions directives of the Content Security Policy that this page overrides.
 */
export function pageHeaders(exceptions: Record<string, string> = {}): Record<string, string> {
  const policy = Object.entries({ ...POLICY, ...exceptions });
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.map((directive) => directive.join(' ')).join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache',
  };
}
