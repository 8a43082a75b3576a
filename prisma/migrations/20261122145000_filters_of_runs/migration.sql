-- The start of the range that holds a number: the numbers to 9, then 18 ranges for each power of ten. The index of a
-- minimum has one list for each range.
CREATE FUNCTION run_level(value BIGINT) RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN value < 10 THEN value ELSE value - value % (5 * (10 ^ (length(value::text) - 2))::bigint) END
$$;

-- The words of a run, and marks of its bot: one of the bot, and one of each span of 2^12 and 2^18 seconds. A search for
-- a common word reads only the spans that its page needs. The parser makes no word with the character U+0001. Each
-- character of Thai, Lao, Burmese, Khmer, Chinese and Japanese is a word, because these scripts have no spaces.
CREATE FUNCTION run_lexemes(bot_id TEXT, created_at TIMESTAMPTZ, input TEXT, response TEXT) RETURNS TSVECTOR
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT array_to_tsvector(ARRAY[
      chr(1) || bot_id,
      chr(1) || bot_id || '/12/' || floor(extract(epoch FROM created_at AT TIME ZONE 'UTC') / 4096)::bigint,
      chr(1) || bot_id || '/18/' || floor(extract(epoch FROM created_at AT TIME ZONE 'UTC') / 262144)::bigint
    ])
    || to_tsvector('simple'::regconfig, CASE WHEN octet_length(left(input, 8192)) = length(left(input, 8192)) THEN left(input, 8192)
      ELSE regexp_replace(left(input, 8192), '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])', ' \1 ', 'g') END)
    || to_tsvector('simple'::regconfig, CASE WHEN octet_length(left(COALESCE(response, ''), 8192)) = length(left(COALESCE(response, ''), 8192)) THEN left(COALESCE(response, ''), 8192)
      ELSE regexp_replace(left(COALESCE(response, ''), 8192), '([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])', ' \1 ', 'g') END)
$$;
