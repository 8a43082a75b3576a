/** Keys with the marker of a service. Each pattern has a bounded length, so the search is linear. */
const MARKED = [
  /\bsk-(?=[\w-]{0,60}\d)[\w-]{16}/, // OpenAI, Anthropic
  /\b[rs]k_(?:live|test)_\w{10}/, // Stripe
  /\bparley_sk_\w{20}/,
  /\bgh[pousr]_\w{20}/, // GitHub
  /\bgithub_pat_\w{20}/,
  /\bglpat-[\w-]{16}/, // GitLab
  /\bxox[abeoprs]-[\w-]{10}/, // Slack
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/, // AWS
  /\bAIza[\w-]{30}/, // Google
  /\bnpm_\w{30}/,
  /\b\d{8,10}:[\w-]{35}\b/, // Telegram
  /\beyJ[\w-]{20}/, // JSON Web Tokens
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----/,
  /\b(?:Bearer|Basic|Token) {1,4}(?=[\w.~+/=-]{0,60}\d)[\w.~+/=-]{20}/i,
];

const SHORTEST = 15;
const WEB_ADDRESS = /\bhttps?:\/\/[^\s"]*/g;
const LONG_RUN = /[\w+/-]{32,}/g;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Whether a text seems to contain a key or token: one with the marker of a service, or a long random run of letters and
 * digits. A random run inside a URL does not count, because it may be part of a path.
 */
export function looksLikeSecret(text: string): boolean {
  if (text.length < SHORTEST) return false;
  if (MARKED.some((pattern) => pattern.test(text))) return true;
  return text.replace(WEB_ADDRESS, ' ').match(LONG_RUN)?.some(isRandom) ?? false;
}

/** Whether a run has a high entropy and is hexadecimal, or mixes upper case, lower case and digits. */
function isRandom(run: string): boolean {
  if (UUID.test(run)) return false;
  const digits = run.match(/\d/g)?.length ?? 0;
  const isHex = /^[\da-f]+$/i.test(run);
  const isMixed = /[a-z]/.test(run) && /[A-Z]/.test(run) && digits >= 3;
  if (isHex) return digits >= 3 && digits < run.length && entropy(run) > 3;
  return isMixed && entropy(run) > 4;
}

/** Shannon entropy, in bits per character. */
function entropy(run: string): number {
  const counts = new Map<string, number>();
  for (const character of run) counts.set(character, (counts.get(character) ?? 0) + 1);
  let sum = 0;
  for (const count of counts.values()) sum -= (count / run.length) * Math.log2(count / run.length);
  return sum;
}
