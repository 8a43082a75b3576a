import pg from 'pg';

let databases = 0;

/** Creates an empty database, and drops it when the stack is disposed of. @returns its URL. */
export async function freshDatabase(
  serverUrl: string,
  stack: AsyncDisposableStack,
): Promise<string> {
  const name = `parley_bench_${process.pid}_${databases++}`;
  await query(serverUrl, `CREATE DATABASE ${name}`).catch((cause) => {
    throw new Error(
      `Cannot create a database on the PostgreSQL server at ${new URL(serverUrl).host}.`,
      {
        cause,
      },
    );
  });
  stack.defer(() => query(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`));
  return Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
}

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
