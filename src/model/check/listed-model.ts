import { request } from 'undici';
import { isJsonObject } from '../../text/json.ts';
import { NO_KEY, OPENAI_BASE_URL } from '../openai.ts';
import { type CallerIdentity, createClient } from '../post.ts';
import { parseOrNone } from '../wire.ts';

/** A model server as the operator configures it. */
export type ListingServer = CallerIdentity & {
  apiKey: string | undefined;
  baseUrl: string | undefined;
};

/** Bytes read of a list. */
const MAX_BYTES = 4 * 1024 * 1024;

const DATE = /^\d{4}-\d{2}-\d{2}/;

/**
 * Finds the announced end of a model in the list of its server (`GET /models`), which OpenAI's servers have as
 * `shutdown_date`.
 *
 * @param limitMs the time limit.
 * @returns `YYYY-MM-DD`; `undefined` if the server has no list or no date, or does not answer in time.
 */
export async function findShutdownDate(
  { apiKey = NO_KEY, baseUrl = OPENAI_BASE_URL, ...identity }: ListingServer,
  name: string,
  limitMs: number,
): Promise<string | undefined> {
  const client = createClient({ apiKey, baseUrl, ...identity });
  const { req, url } = await client.buildRequest({ method: 'get', path: '/models' });
  try {
    const signal = AbortSignal.timeout(limitMs);
    const headers = Object.fromEntries(req.headers);
    const { statusCode, body } = await request(url, { headers, signal });
    if (statusCode !== 200) {
      // A destroyed body emits an error.
      body.on('error', () => {}).destroy();
      return undefined;
    }
    return dateIn(parseOrNone(await startOf(body)), name);
  } catch {
    // The other checks of the server say why it cannot be reached.
    return undefined;
  }
}

async function startOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function dateIn(list: unknown, name: string): string | undefined {
  const models: unknown = isJsonObject(list) ? list.data : undefined;
  if (!Array.isArray(models)) return undefined;
  const found = models.find((model) => isJsonObject(model) && model.id === name);
  const date = isJsonObject(found) ? found.shutdown_date : undefined;
  return typeof date === 'string' ? DATE.exec(date)?.[0] : undefined;
}
