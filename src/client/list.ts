import { type ApiPromise, apiPromise } from './api-promise.ts';
import type { Connection, Request } from './connection.ts';
import type { RequestOptions } from './options.ts';
import { fromWire, toWire } from './wire.ts';

/** One page of a list. */
export type Page<Entry> = {
  data: Entry[];
  /** The `cursor` of the next page. Null on the last page. */
  nextCursor: string | null;
};

/** A list of the server. Iterating it reads page after page; `page` reads one. */
export type List<Entry> = AsyncIterable<Entry> & { page(): ApiPromise<Page<Entry>> };

/** The form of every list on the wire. */
type WirePage<Entry> = { nextCursor: string | null } & Record<string, Entry[]>;

/** @param field the member of a page that holds its entries. */
export function createList<Entry>(
  connection: Connection,
  { path, field, filter }: { path: string; field: string; filter: { cursor?: string | undefined } },
  options: RequestOptions | undefined,
): List<Entry> {
  const page = (cursor: string | undefined) => {
    const given = Object.entries(toWire({ ...filter, cursor })).filter(
      ([, value]) => value !== undefined,
    );
    const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
    const request: Request = { method: 'GET', path: `${path}?${query}` };
    return apiPromise(
      connection.call(request, connection.settingsOf(options), (body) => {
        const { nextCursor, [field]: data = [] } = fromWire(body) as WirePage<Entry>;
        return { data, nextCursor };
      }),
    );
  };
  return {
    page: () => page(filter.cursor),
    async *[Symbol.asyncIterator]() {
      let { cursor } = filter;
      do {
        const { data, nextCursor } = await page(cursor);
        yield* data;
        cursor = nextCursor ?? undefined;
      } while (cursor !== undefined);
    },
  };
}
