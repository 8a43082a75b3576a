/** What PostgreSQL refuses at the connection, by SQLSTATE. Source: PostgreSQL's manual, appendix A. */
const CAUSES: Record<string, (user: string, database: string) => string> = {
  '28P01': (user) => `rejects the password of the user "${user}"`,
  '28000': (user, database) => `does not let the user "${user}" use the database "${database}"`,
  '3D000': (_user, database) => `has no database "${database}"`,
};

/**
 * Explains why PostgreSQL refused a connection, in one sentence without the password.
 *
 * @param url `postgresql://…`
 * @param error the error of the driver, or of Prisma's adapter around it.
 * @param setting the name of the setting that holds the URL.
 * @returns `undefined` for other errors, such as an unreachable server.
 */
export function refusedConnection(
  url: string,
  error: unknown,
  setting = 'DATABASE_URL',
): string | undefined {
  const { host, pathname, username } = new URL(url);
  const cause = CAUSES[sqlStateOf(error) ?? ''];
  const [user = '', database = ''] = [username, pathname.slice(1)].map(decodeURIComponent);
  return cause && `${setting}: PostgreSQL at ${host} ${cause(user, database)}.`;
}

function sqlStateOf(error: unknown): string | undefined {
  const { code, cause } = error as { code?: unknown; cause?: { originalCode?: unknown } };
  const found = cause?.originalCode ?? code;
  return typeof found === 'string' ? found : undefined;
}
