/** Marks the console's own requests. The server accepts the session's cookie with it only. */
export const CONSOLE_HEADERS = { 'X-Parley-Console': '1' };
