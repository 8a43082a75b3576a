import type { GraphQLResolveInfo } from 'graphql';
import { Prisma } from '../generated/prisma/client.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { readWithin } from './long-columns.ts';
import type { Demand } from './read-budget.ts';
import { demandIn } from './selection.ts';

type Fact = { sessionKey: string; name: string; value: string; updatedAt: Date };

export const FactObject = builder.objectRef<Fact>('MemoryEntry').implement({
  description: 'A fact that a bot remembers about the user of a session.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the fact.' }),
    value: t.exposeString('value', { description: 'Value of the fact.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'Time of the last change.' }),
  }),
});

/** Loads the facts of a session, sorted by name. */
const loadFacts = batchLoader(async (keys, demand: Demand, context, { timesOf }) => {
  const times = keys.map(timesOf);
  const rows = Prisma.sql`
    SELECT session_key AS "sessionKey", name, value, updated_at AS "updatedAt",
      ((octet_length(name) + octet_length(value)) * ${demand.copies}::float8 + ${demand.entryBytes}::float8) * times AS bytes
    FROM memory_entries JOIN unnest(${keys}::text[], ${times}::int[]) AS session(key, times)
      ON session_key = session.key`;
  const budget = context.readBudget();
  const facts = await budget.inTurn(() => readWithin<Fact>(context, budget, rows));
  const bySession = Map.groupBy(facts.toSorted(byName), ({ sessionKey }) => sessionKey);
  return (key) => bySession.get(key) ?? [];
});

/** The facts of a session, sorted by name. @throws GatewayError `invalid_request` beyond the read budget. */
export function factsOf(sessionKey: string, context: Context, info: GraphQLResolveInfo) {
  return loadFacts(sessionKey, demandIn(info, context), context, info);
}

function byName(one: Fact, other: Fact): number {
  return one.name < other.name ? -1 : 1;
}
