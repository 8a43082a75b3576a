import { Prisma } from '../../generated/prisma/client.ts';
import type { QueryRaw } from '../../storage/lists.ts';

/** Characters of scripts without spaces. The function `run_lexemes` indexes each as a word. */
const UNSPACED =
  /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]/gu;
const UNSPACED_WORD = new RegExp(`(?:${UNSPACED.source})+`, 'gu');

/** What the index of texts can find of a search. */
export type SearchWords = {
  /** A `tsquery` that each matching run matches. The index has no positions, so it has no phrase. */
  candidates: Prisma.Sql;
  /** Whether each candidate matches the text. */
  isExact: boolean;
  /**
   * Conditions of the runs that match the text: the words of each phrase follow each other. They take a fifth of the time
   * of the words of a run. Runs that do not match may meet them too.
   */
  adjacent: Prisma.Sql[];
};

/** A phrase operator in the text of a `tsquery`. No word contains a `<`: PostgreSQL's parser separates words there. */
const FOLLOWED_BY = /<(?:-|\d+)>/;

/** The texts from which `run_lexemes` reads words. The last word of the input and the first of the reply are adjacent. */
const TEXTS = Prisma.sql`lower(left(input, 8192) || ' ' || left(COALESCE(response, ''), 8192))`;
/** What PostgreSQL's parser skips between two words: characters, tags, entities, and the protocol of an address. */
const BETWEEN = '([^[:alnum:]]|<.*>|&[#0-9a-z]+;|[a-z]+://)*';

/** A text as a `tsquery`. The text has words, "phrases", -exclusions and `or`, as in a web search. */
export function wordsOf(text: string): Prisma.Sql {
  return Prisma.sql`websearch_to_tsquery('simple'::regconfig, ${withPhrases(text)})`;
}

/** Reads the words of a search. @returns `undefined` if it has none. */
export async function readWords(reader: QueryRaw, text: string): Promise<SearchWords | undefined> {
  const words = wordsOf(text);
  const [read] = await reader.$queryRaw<{ query: string; indexed: string }[]>(Prisma.sql`
    SELECT query::text AS query, querytree(query) AS indexed FROM (SELECT ${words} AS query) AS text`);
  if (!read?.query) return undefined;
  if (!FOLLOWED_BY.test(read.query)) return { candidates: words, isExact: true, adjacent: [] };
  // `querytree` leaves out exclusions. If nothing else is there, all runs are candidates, and each has the marks of its bot.
  const indexed = read.indexed === 'T' ? '' : read.indexed;
  const candidates = indexed.replaceAll(new RegExp(FOLLOWED_BY, 'g'), '&');
  return {
    candidates: Prisma.sql`${candidates}::tsquery`,
    isExact: false,
    adjacent: phrasesOf(read.query).map((words) => Prisma.sql`${TEXTS} ~ ${words.join(BETWEEN)}`),
  };
}

/**
 * The phrases that each matching run has.
 *
 * @param query the text of a `tsquery`.
 * @returns the parts of the phrases that have only words of the letters a to z and digits.
 */
export function phrasesOf(query: string): string[][] {
  const plain = query.replaceAll(/'(?:[^']|'')*'/g, (word) =>
    /^'[a-z0-9]+'$/.test(word) ? word : '?',
  );
  if (plain.includes('|')) return [];
  const wanted = plain.replaceAll(/!+\( [^()]* \)|!+\S+/g, '?');
  const phrases = wanted.match(/'[a-z0-9]+'(?: <-> '[a-z0-9]+')+/g) ?? [];
  return phrases.map((phrase) => phrase.match(/[a-z0-9]+/g) ?? []);
}

/** Separates characters that are indexed one by one, and quotes words of them. */
function withPhrases(text: string): string {
  const parts = text.split('"');
  return parts
    .map((part, index) => {
      if (index % 2 === 1) return `"${part.replaceAll(UNSPACED, ' $& ')}"`;
      return part.replaceAll(UNSPACED_WORD, (word) => `"${[...word].join(' ')}"`);
    })
    .join('');
}
