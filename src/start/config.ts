import { resolve } from 'node:path';
import { closest, distance } from 'fastest-levenshtein';
import type { RedisPlace } from '../coordination/redis.ts';
import { StartupError } from '../errors/errors.ts';
import { environmentVariables, type LogLevel, SECRET_SETTINGS } from './environment-variables.ts';
import { fileSetting, readSecretFiles } from './secret-files.ts';

/** The operator's settings, validated. */
export type Config = {
  host: string;
  port: number;
  /** PostgreSQL's URL; none: the embedded database in `dataDirectory`. */
  databaseUrl: string | undefined;
  /** The URL of the same database without a pooler, for the migrations; none: `databaseUrl`. */
  databaseDirectUrl: string | undefined;
  /** The connections of Prisma; none: the default. */
  databasePoolSize: number | undefined;
  /** Redis' URL; none: this process is the only replica. With Sentinels, it has no host. */
  redisUrl: string | undefined;
  redisPlace: RedisPlace;
  /** How long the start waits for the database and Redis, in milliseconds. */
  startupLimitMs: number;
  /** Absolute path of the directory with the embedded database, the generated secret key and the lock. */
  dataDirectory: string;
  /** 32 bytes; none: generated in `dataDirectory`. */
  secretKey: Buffer | undefined;
  /** Earlier secret keys. They only decrypt. */
  previousSecretKeys: Buffer[];
  /** The operator key of an empty database; none: generated. */
  bootstrapKey: string | undefined;
  /** The OpenAI-compatible server to call; none: the offline model. */
  model:
    | {
        apiKey: string | undefined;
        baseUrl: string | undefined;
        name: string;
        /** Tried in order after a failed call, for definitions that name none. */
        fallbacks: string[] | undefined;
        /** The organization and the project that OpenAI's server charges. */
        organization: string | undefined;
        project: string | undefined;
        /** The header with the key alone; none: `Authorization` with `Bearer`. */
        authHeader: string | undefined;
      }
    | undefined;
  /** `host:port` of private hosts that tools may call. */
  allowedHosts: string[];
  /** The server's public base URL without a trailing slash, such as `https://bots.example`. None: unknown. */
  publicUrl: string | undefined;
  /** Base URL of the Bot API server without a trailing slash; none: Telegram's own. */
  telegramApiRoot: string | undefined;
  /** Origins whose pages may call `/graphql*`. */
  allowedOrigins: string[];
  /** GraphQL documents by the ids under which clients may run them. With `only`, no other documents run. */
  persistedDocuments: { manifest: Record<string, string> | undefined; only: boolean };
  /** IP addresses and networks of the proxies whose `X-Forwarded-For` is trusted. */
  trustProxy: string[];
  /** Base URL of the collector that receives traces; none: traces are not exported. */
  otlpEndpoint: string | undefined;
  /** Describes this process to that collector. */
  resourceAttributes: Record<string, string>;
  /** Who may read the metrics: holders of the token, and clients of the port. None: no metrics. */
  metrics: { token: string | undefined; port: number | undefined } | undefined;
  /** Seconds that active runs may take to finish at a shutdown. */
  drainSeconds: number;
  /** Seconds that requests are still accepted at a shutdown, while `/readyz` answers 503. */
  drainDelaySeconds: number;
  /** Days that runs are kept; none: forever. */
  retentionDays: number | undefined;
  /** Days that the prompts of runs are stored; 0: not at all; none: the default. */
  promptDays: number | undefined;
  /** Days that the texts of tool calls are stored; 0: not at all; none: the default. */
  toolCallDays: number | undefined;
  /** Days that evaluations are kept; none: the default. */
  evaluationDays: number | undefined;
  /** The model of the operator's server that judges replies; none: the model of the definition. */
  judgeModel: string | undefined;
  logLevel: LogLevel;
};

/** The default for `OPENAI_MODEL` on OpenAI's own server. */
const OPENAI_DEFAULT_MODEL = 'gpt-6-luna';

const NAMES = Object.keys(environmentVariables.shape);
/** The variables of the command `parley`. They may stand in the same `.env`. */
const NAMES_OF_COMMAND = ['PARLEY_API_KEY', 'PARLEY_PROFILE', 'PARLEY_URL'];

const NAMES_OF_FILES = SECRET_SETTINGS.map(fileSetting);

/** Whether a variable is a setting of Parley, or a mistyped one, which `readConfig` refuses. */
export function isSetting(name: string): boolean {
  return NAMES.includes(name) || NAMES_OF_FILES.includes(name) || name.startsWith('PARLEY_');
}

/** The other variable that sets the same setting: `DATABASE_URL_FILE` for `DATABASE_URL`, and the reverse. */
export function otherForm(name: string): string | undefined {
  const index = NAMES_OF_FILES.indexOf(name);
  if (index >= 0) return SECRET_SETTINGS[index];
  return SECRET_SETTINGS.some((secret) => secret === name) ? fileSetting(name) : undefined;
}

/**
 * Validates the settings.
 *
 * @throws StartupError that names every problem, and never a value that may be secret.
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const files = readSecretFiles(environment, SECRET_SETTINGS);
  const values = { ...environment, ...files.values };
  const given = Object.fromEntries(
    NAMES.flatMap((name) => (values[name]?.trim() ? [[name, values[name].trim()]] : [])),
  );
  const known = [...NAMES, ...NAMES_OF_FILES, ...NAMES_OF_COMMAND];
  const unknown = Object.keys(environment).filter(
    (name) => name.startsWith('PARLEY_') && !known.includes(name),
  );
  const problems = [
    ...unknown.map((name) => `${name} is not a setting of Parley${suggestion(name)}`),
    ...files.problems,
  ];
  const result = environmentVariables.safeParse(given);
  if (!result.success) {
    problems.push(
      ...result.error.issues.map(({ path: [name, entry], message }) =>
        [String(name), ...(typeof entry === 'string' ? [entry] : []), message].join(' '),
      ),
    );
  }
  if (!result.success || problems.length > 0) throw new StartupError(problems.join('\n'));

  const all = result.data;
  return {
    host: all.HOST,
    port: all.PORT,
    databaseUrl: all.DATABASE_URL,
    databaseDirectUrl: all.DATABASE_DIRECT_URL,
    databasePoolSize: all.DATABASE_POOL_SIZE,
    redisUrl: all.REDIS_URL ?? (all.REDIS_MASTER_NAME && 'redis://sentinel'),
    redisPlace: {
      masterName: all.REDIS_MASTER_NAME,
      sentinels: all.REDIS_MASTER_NAME ? all.REDIS_SENTINELS.map(placeOf) : undefined,
      sentinelPassword: all.REDIS_SENTINEL_PASSWORD,
      sentinelTls: all.REDIS_SENTINEL_TLS === 'true',
      ca: all.REDIS_CA_FILE,
    },
    startupLimitMs: all.PARLEY_STARTUP_TIMEOUT * 1_000,
    dataDirectory: resolve(all.PARLEY_DATA_DIR),
    secretKey: all.PARLEY_SECRET_KEY?.[0],
    previousSecretKeys: all.PARLEY_SECRET_KEY?.slice(1) ?? [],
    bootstrapKey: all.PARLEY_BOOTSTRAP_KEY,
    model:
      all.OPENAI_API_KEY || all.OPENAI_BASE_URL
        ? {
            apiKey: all.OPENAI_API_KEY,
            baseUrl: all.OPENAI_BASE_URL,
            name: all.OPENAI_MODEL ?? OPENAI_DEFAULT_MODEL,
            fallbacks: all.OPENAI_FALLBACK_MODELS,
            organization: all.OPENAI_ORG_ID,
            project: all.OPENAI_PROJECT_ID,
            authHeader: all.OPENAI_AUTH_HEADER,
          }
        : undefined,
    allowedHosts: all.PARLEY_ALLOWED_HOSTS,
    publicUrl: all.PUBLIC_URL,
    telegramApiRoot: all.TELEGRAM_API_ROOT,
    allowedOrigins: all.PARLEY_ALLOWED_ORIGINS,
    persistedDocuments: {
      manifest: all.PARLEY_PERSISTED_DOCUMENTS,
      only: all.PARLEY_PERSISTED_DOCUMENTS_ONLY === 'true',
    },
    trustProxy: all.TRUST_PROXY,
    otlpEndpoint: all.OTEL_EXPORTER_OTLP_ENDPOINT,
    resourceAttributes: {
      ...all.OTEL_RESOURCE_ATTRIBUTES,
      ...(all.OTEL_SERVICE_NAME && { 'service.name': all.OTEL_SERVICE_NAME }),
    },
    metrics:
      all.PARLEY_METRICS_TOKEN !== undefined || all.PARLEY_METRICS_PORT !== undefined
        ? { token: all.PARLEY_METRICS_TOKEN, port: all.PARLEY_METRICS_PORT }
        : undefined,
    drainSeconds: all.PARLEY_DRAIN_SECONDS,
    drainDelaySeconds: all.PARLEY_DRAIN_DELAY_SECONDS,
    retentionDays: all.PARLEY_RETENTION_DAYS,
    promptDays: all.PARLEY_PROMPT_DAYS,
    toolCallDays: all.PARLEY_TOOL_CALL_DAYS,
    evaluationDays: all.PARLEY_EVALUATION_DAYS,
    judgeModel: all.PARLEY_JUDGE_MODEL || undefined,
    logLevel: all.LOG_LEVEL,
  };
}

/** @param entry `host:port`, whose host may be an IPv6 address in brackets. */
function placeOf(entry: string): { host: string; port: number } {
  const colon = entry.lastIndexOf(':');
  const host = entry.slice(0, colon).replace(/^\[|\]$/g, '');
  return { host, port: Number(entry.slice(colon + 1)) };
}

function suggestion(name: string): string {
  const nearest = closest(name, NAMES);
  return distance(name, nearest) <= 4 ? `; did you mean ${nearest}?` : '';
}
