import { readFileSync } from 'node:fs';
import { parseKeyPairsIntoRecord } from '@opentelemetry/core';
import { z } from 'zod';
import { isApiKey } from '../accounts/key-format.ts';
import { isOrigin } from '../text/input.ts';
import { jsonText } from '../text/json.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

const url = (protocols: RegExp, message: string) => z.url({ protocol: protocols, error: message });

const secretKeys = z.string().transform((text, context) => {
  const keys = text.split(',').map((key) => Buffer.from(key.trim(), 'base64'));
  if (keys.every((key) => key.length === 32)) return keys;
  context.addIssue('must be 32 bytes in base64; make one with: openssl rand -base64 32');
  return z.NEVER;
});

/** Examples: `shop.internal:8080`, `[fd00::1]:80`. */
function isHostAndPort(entry: string): boolean {
  return /^([\w.-]+|\[[\da-fA-F:.]+\]):\d+$/.test(entry) && URL.canParse(`http://${entry}`);
}

/** Whether a URL consists of only an origin and a path. True for a text that is no URL, which is another problem. */
function isPlainAddress(address: string): boolean {
  if (!URL.canParse(address)) return true;
  const { username, password, search, hash } = new URL(address);
  return `${username}${password}${search}${hash}` === '';
}

/** Entries separated by commas. */
const list = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((entry) => entry.trim() || []));

/** The text of a file. */
const readableFile = z.string().transform((path, context) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    context.addIssue('must be the path of a readable file');
    return z.NEVER;
  }
});

/**
 * A JSON file that maps document ids to documents, in the format of client code generators.
 * Source of the id syntax: GraphQL over HTTP, appendix A, "Document identifier syntax".
 */
const manifest = readableFile.pipe(jsonText).pipe(
  z.record(
    z.string().regex(/^(sha256:[\da-f]{64}|x-[\w.~-]+:[\w.~-]+|[\w.~-]+)$/),
    z.string('must be a GraphQL document'),
    {
      error: ({ code }) =>
        code === 'invalid_key'
          ? 'is not a valid document id'
          : 'must be a JSON object of document ids and documents',
    },
  ),
);

/** Source: OpenTelemetry, "Resource SDK", "Specifying resource information via an environment variable". */
const resourceAttributes = list.transform((entries, context) => {
  const attributes = parseKeyPairsIntoRecord(entries.join(','));
  if (Object.keys(attributes).length === entries.length) return attributes;
  context.addIssue('must be name=value entries, each name once');
  return z.NEVER;
});

const port = z.coerce.number('must be a port number').int().min(0).max(65535);

const visibleText = z.string().regex(/^[!-~]{1,256}$/, 'must be 1 to 256 visible ASCII characters');

/** Headers of a request that cannot hold a key. */
const OTHER_HEADER =
  /^(accept|connection|content|cookie|date|expect|host|keep-alive|openai-|te$|trailer|transfer|upgrade|user-agent|via|x-stainless-)/i;

/** A whole number of days. */
const daysFrom = (min: number) => {
  const message = `must be a whole number of days, ${min} to 36500`;
  // A check that does not abort: the object's own checks run too.
  return z.coerce
    .number(message)
    .refine((days) => Number.isInteger(days) && days >= min && days <= 36_500, message)
    .optional();
};

/** A whole number of seconds. */
const seconds = (max: number) => {
  const message = `must be a whole number of seconds, 0 to ${max}`;
  return z.coerce.number(message).int(message).min(0, message).max(max, message);
};

const NO_SECONDS = 'must be a whole number of seconds, 0 to 3600';
const NO_POOL_SIZE = 'must be a whole number of connections, 2 to 200';

/**
 * The settings that hold a secret. Each one may also come from a file, whose path the variable with `_FILE` at its end
 * gives: `DATABASE_URL_FILE`.
 */
export const SECRET_SETTINGS = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'REDIS_URL',
  'REDIS_SENTINEL_PASSWORD',
  'PARLEY_SECRET_KEY',
  'PARLEY_BOOTSTRAP_KEY',
  'OPENAI_API_KEY',
  'PARLEY_METRICS_TOKEN',
] as const;

/** The environment variables that configure the server, as text, with their defaults. */
export const environmentVariables = z
  .object({
    PORT: port.default(4000),
    HOST: z.string().default('127.0.0.1'),
    DATABASE_URL: url(/^postgres(ql)?$/, 'must be a postgresql:// address').optional(),
    DATABASE_DIRECT_URL: url(/^postgres(ql)?$/, 'must be a postgresql:// address').optional(),
    DATABASE_POOL_SIZE: z.coerce
      .number(NO_POOL_SIZE)
      .refine((size) => Number.isInteger(size) && size >= 2 && size <= 200, NO_POOL_SIZE)
      .optional(),
    REDIS_URL: url(/^rediss?$/, 'must be a redis:// or rediss:// address').optional(),
    REDIS_SENTINELS: list.pipe(
      z.array(z.string().refine(isHostAndPort, 'must be host:port entries')),
    ),
    REDIS_MASTER_NAME: visibleText.optional(),
    REDIS_SENTINEL_PASSWORD: z.string().optional(),
    REDIS_SENTINEL_TLS: z.enum(['true', 'false'], 'must be true or false').default('false'),
    REDIS_CA_FILE: readableFile.optional(),
    PARLEY_STARTUP_TIMEOUT: z.coerce
      .number(NO_SECONDS)
      .refine(
        (seconds) => Number.isInteger(seconds) && seconds >= 0 && seconds <= 3_600,
        NO_SECONDS,
      )
      .default(60),
    PARLEY_DATA_DIR: z.string().default('.parley'),
    PARLEY_SECRET_KEY: secretKeys.optional(),
    PARLEY_BOOTSTRAP_KEY: z
      .string()
      .refine(isApiKey, 'must be a whole API key, parley_sk_ and 49 characters with their checksum')
      .optional(),
    OPENAI_API_KEY: z.string().optional(),
    OPENAI_BASE_URL: url(/^https?$/, 'must be an http:// or https:// address').optional(),
    OPENAI_MODEL: z.string().optional(),
    OPENAI_ORG_ID: visibleText.optional(),
    OPENAI_PROJECT_ID: visibleText.optional(),
    OPENAI_AUTH_HEADER: z
      .string()
      .regex(/^[A-Za-z][\w-]{0,63}$/, 'must be the name of a header, such as api-key')
      .refine((name) => !OTHER_HEADER.test(name), 'must not be a header with another purpose')
      .optional(),
    OPENAI_FALLBACK_MODELS: list
      .pipe(z.array(z.string()).max(3, 'must be 3 models at most'))
      .transform((models) => (models.length > 0 ? models : undefined)),
    TRUST_PROXY: list.pipe(
      z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'must be IP addresses')),
    ),
    PARLEY_ALLOWED_HOSTS: list.pipe(
      z.array(z.string().refine(isHostAndPort, 'must be host:port entries')),
    ),
    PARLEY_RETENTION_DAYS: daysFrom(1),
    PARLEY_PROMPT_DAYS: daysFrom(0),
    PARLEY_TOOL_CALL_DAYS: daysFrom(0),
    PARLEY_EVALUATION_DAYS: daysFrom(1),
    PARLEY_JUDGE_MODEL: z.string().optional(),
    PARLEY_DRAIN_SECONDS: seconds(3_600).default(25),
    PARLEY_DRAIN_DELAY_SECONDS: seconds(300).default(0),
    PARLEY_METRICS_TOKEN: z
      .string()
      .regex(/^[!-~]{16,256}$/, 'must be 16 to 256 visible ASCII characters')
      .optional(),
    PARLEY_METRICS_PORT: port.optional(),
    PARLEY_ALLOWED_ORIGINS: list.pipe(
      z.array(z.string().refine(isOrigin, 'must be origins, such as https://shop.example')),
    ),
    PUBLIC_URL: url(/^https?$/, 'must be an http:// or https:// address')
      .refine(isPlainAddress, 'must not contain a user, query or fragment')
      .transform((text) => new URL(text).href.replace(/\/+$/, ''))
      .optional(),
    TELEGRAM_API_ROOT: url(/^https?$/, 'must be an http:// or https:// address')
      .refine(isPlainAddress, 'must not contain a user, query or fragment')
      .transform((text) => new URL(text).href.replace(/\/+$/, ''))
      .optional(),
    PARLEY_PERSISTED_DOCUMENTS: manifest.optional(),
    PARLEY_PERSISTED_DOCUMENTS_ONLY: z
      .enum(['true', 'false'], 'must be true or false')
      .default('false'),
    OTEL_EXPORTER_OTLP_ENDPOINT: url(
      /^https?$/,
      'must be an http:// or https:// address',
    ).optional(),
    OTEL_SERVICE_NAME: z.string().optional(),
    OTEL_RESOURCE_ATTRIBUTES: resourceAttributes,
    LOG_LEVEL: z.enum(LOG_LEVELS, `must be one of ${LOG_LEVELS.join(', ')}`).default('info'),
  })
  .refine((all) => all.DATABASE_URL === undefined || all.PARLEY_SECRET_KEY !== undefined, {
    path: ['PARLEY_SECRET_KEY'],
    error: 'is required with DATABASE_URL; make one with: openssl rand -base64 32',
    when: () => true,
  })
  .refine((all) => all.DATABASE_DIRECT_URL === undefined || all.DATABASE_URL !== undefined, {
    path: ['DATABASE_DIRECT_URL'],
    error: 'requires DATABASE_URL, whose database it reaches without a pooler',
    when: () => true,
  })
  .refine((all) => all.REDIS_SENTINELS.length > 0 === (all.REDIS_MASTER_NAME !== undefined), {
    path: ['REDIS_SENTINELS'],
    error: 'and REDIS_MASTER_NAME require each other',
    when: () => true,
  })
  .refine((all) => !all.OPENAI_BASE_URL || all.OPENAI_MODEL, {
    path: ['OPENAI_MODEL'],
    error: 'is required with OPENAI_BASE_URL: the name of the default model',
    when: () => true,
  })
  .refine((all) => !all.OPENAI_FALLBACK_MODELS || all.OPENAI_API_KEY || all.OPENAI_BASE_URL, {
    path: ['OPENAI_FALLBACK_MODELS'],
    error: 'requires OPENAI_API_KEY, or OPENAI_BASE_URL for a server that needs no key',
    when: () => true,
  })
  .refine((all) => !all.OPENAI_AUTH_HEADER || all.OPENAI_API_KEY, {
    path: ['OPENAI_AUTH_HEADER'],
    error: 'requires OPENAI_API_KEY, which it holds',
    when: () => true,
  })
  .refine((all) => !all.OPENAI_MODEL || all.OPENAI_API_KEY || all.OPENAI_BASE_URL, {
    path: ['OPENAI_MODEL'],
    error: 'requires OPENAI_API_KEY, or OPENAI_BASE_URL for a server that needs no key',
    when: () => true,
  });
