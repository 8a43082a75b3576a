/** Characters of a client's name that a trace has. */
const MAX_CLIENT_NAME = 64;

/**
 * Reads the first product of an unchecked `User-Agent` header, such as `OpenAI/Python`. Source: RFC 9110, section 10.1.5.
 *
 * @returns at most 64 printable characters; `undefined` if the header has none.
 */
export function readClientName(userAgent: unknown): string | undefined {
  if (typeof userAgent !== 'string') return undefined;
  // Node.js decodes headers as Latin-1, so a character is one code unit.
  return /^[ \t]*([!-~\xa1-\xff]+)/
    .exec(userAgent.slice(0, MAX_HEADER))?.[1]
    ?.slice(0, MAX_CLIENT_NAME);
}

/** Characters of the header that are read: the name, and blanks before it. */
const MAX_HEADER = 256;
