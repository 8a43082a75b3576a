/** What a test checks, in order. */
export const MODEL_CHECKS = [
  'REACHABLE',
  'API_KEY',
  'MODEL',
  'STREAMING',
  'TOOLS',
  'JSON_OUTPUT',
  'USAGE',
  'PARAMETERS',
] as const;

export const MODEL_CHECK_STATUSES = ['PASSED', 'FAILED', 'SKIPPED'] as const;

export type ModelCheckName = (typeof MODEL_CHECKS)[number];

/** The result of one check. */
export type ModelCheck = {
  name: ModelCheckName;
  /** `SKIPPED`: the failure of another check made this one impossible. */
  status: (typeof MODEL_CHECK_STATUSES)[number];
  /** One sentence. It quotes at most 512 characters of the server's error, and never the key. */
  message: string;
  /** What to do, if the check failed. */
  advice?: string | undefined;
};

/** Whether bots can use a model: the server answers its requests, though some features may be missing. */
export function isUsable(checks: readonly ModelCheck[]): boolean {
  return checks.every(({ status }) => status !== 'SKIPPED');
}
