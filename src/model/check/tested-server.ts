/** A model server as the reader of a test knows it, for sentences and advice. */
export type TestedServer = {
  /** The subject of a sentence, such as `api.example` or `The model server`. */
  name: string;
  /** The settings of its address, of its key and of the model's name, as advice names them. */
  baseUrl: string;
  apiKey: string;
  model: string;
  /** Whether the requests carry a key. */
  hasKey: boolean;
  /** Who can change these settings. The author of a definition cannot change the operator's. */
  owner: 'operator' | 'definition';
  /** Whether the reader can change the settings, and read the log of the server. */
  isReaders: boolean;
};

/** The operator's model server, for the operator. */
export const OPERATORS_SERVER = {
  baseUrl: 'OPENAI_BASE_URL',
  apiKey: 'OPENAI_API_KEY',
  model: 'OPENAI_MODEL',
  owner: 'operator',
  isReaders: true,
} as const;

/** The model server that a definition names, for the author of the definition. */
export const DEFINITIONS_SERVER = {
  name: 'The model server',
  baseUrl: '`base_url`',
  apiKey: '`api_key`',
  model: 'the `model` block',
  owner: 'definition',
  isReaders: true,
} as const;

/** The operator's model server, for the author of a definition that uses it. */
export const SHARED_SERVER = {
  name: 'The operator’s model server',
  baseUrl: 'its address',
  apiKey: 'the operator’s settings',
  model: 'the `model` block',
  owner: 'operator',
  isReaders: false,
} as const;

/** What to do if no model server is configured. */
export const CONFIGURE_SERVER = 'Set OPENAI_API_KEY, or OPENAI_BASE_URL and OPENAI_MODEL.';

const ASK_OPERATOR = 'Ask the operator of Parley to test the model server.';

/** The advice about a setting of the server, if the reader can change that setting. Else the advice to ask the operator. */
export function serverAdvice(
  { isReaders }: Pick<TestedServer, 'isReaders'>,
  advice: string,
): string {
  return isReaders ? advice : ASK_OPERATOR;
}
