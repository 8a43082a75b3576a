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
  stack.defer(async () => {
    await query(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
  });
  return Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
}

/** Executes statements. @returns the rows of the last one. */
export async function query<Row extends object>(
  databaseUrl: string,
  ...statements: string[]
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const statement of statements) ({ rows } = await client.query<Row>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
