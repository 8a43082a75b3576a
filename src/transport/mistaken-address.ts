/** The first address that each kind of client calls, by the end of its path. */
const ADDRESSES: Readonly<Record<string, string>> = {
  completions: 'POST /v1/chat/completions',
  responses: 'POST /v1/responses',
  models: 'GET /v1/models',
  mcp: 'POST /mcp',
};

/** A path with a wrong base: too little, too much, or the address of another server. */
const PATH =
  /^(?:\/+(?:api|openai|v1|chat|completions|responses))*\/+(completions|responses|models|mcp)\/*$/;

/** An address that a client means, although it called another one. */
export type MeantAddress = {
  /** The method and the path. */
  address: string;
  /** Whether it belongs to OpenAI's API. */
  isOpenAI: boolean;
};

/** Finds the address that a client with a wrong base URL means, such as one without `/v1`. */
export function meantBy(url: string): MeantAddress | undefined {
  const [, end = ''] = PATH.exec(url.split('?')[0] ?? '') ?? [];
  const address = ADDRESSES[end];
  return address === undefined ? undefined : { address, isOpenAI: end !== 'mcp' };
}
