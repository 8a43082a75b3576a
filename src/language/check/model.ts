import { BOUNDS } from '../bounds.ts';
import {
  DEFAULTS,
  type JsonValue,
  type ModelSettings,
  REASONING_EFFORTS,
  type ReasoningEffort,
} from '../definition.ts';
import { findRetirement } from '../retirements.ts';
import type { Member } from '../syntax.ts';
import { quote, type Token } from '../token.ts';
import { isDeeper, parseJson } from './json.ts';
import { checkCount, checkNames, settingsOf } from './names.ts';
import { addressOf } from './urls.ts';
import {
  type Check,
  checkText,
  DURATION,
  envOf,
  nameOf,
  namesOf,
  numberOf,
  type Range,
  stringsOf,
  textOf,
} from './values.ts';

const TEMPERATURE: Range = { min: 0, max: 2, text: '0 to 2' };
const MAX_TOKENS: Range = { min: 1, max: 1_000_000, text: '1 to 1000000' };

export const DEFAULT_MODEL: ModelSettings = { timeout: DEFAULTS.modelTimeout };

/** "model" STRING [ "{" { model_setting } "}" ] */
export function checkModel(member: Member, check: Check): ModelSettings {
  const settings = settingsOf(member.block, check);
  const read = (word: string, range: Range) =>
    settings.read(word, (setting) => numberOf(setting, range, check));
  const baseUrl = settings.read('base_url', (setting) => addressOf(setting, check));
  const fallback = settings.read('fallback', (setting) => checkFallback(setting, check));
  const names = [...stringsOf(member), ...settings.all('fallback').flatMap(stringsOf)];
  if (isOpenAI(baseUrl)) for (const name of names) checkRetirement(name, check);
  return {
    name: textOf(member, check),
    temperature: read('temperature', TEMPERATURE),
    maxTokens: read('max_tokens', MAX_TOKENS),
    reasoning: settings.read('reasoning', effortOf),
    parameters: checkParameters(settings.all('parameter'), check),
    fallback,
    timeout: read('timeout', DURATION) ?? DEFAULTS.modelTimeout,
    baseUrl,
    apiKey: settings.read('api_key', (setting) => envOf(setting, check)),
  };
}

/** Whether the names of models are probably OpenAI's: the operator's server is not known here. */
function isOpenAI(baseUrl: ModelSettings['baseUrl']): boolean {
  return (
    typeof baseUrl !== 'string' ||
    /^https:\/\/[\w.-]*\.openai\.(?:azure\.)?com\//.test(`${baseUrl}/`)
  );
}

function checkRetirement(token: Token, { report }: Check): void {
  const retirement = findRetirement(nameOf(token));
  if (!retirement) return;
  const { date, successor } = retirement;
  const advice = successor ? `, its successor is "${successor}"` : '';
  report('model-retired', token, `the provider ends this model on ${date}${advice}`);
}

/** "reasoning" ( "none" | "minimal" | "low" | "medium" | "high" ) */
function effortOf(member: Member): ReasoningEffort | undefined {
  const [token] = namesOf(member);
  return REASONING_EFFORTS.find((effort) => effort === token?.text);
}

/** "fallback" STRING { "," STRING } */
function checkFallback(member: Member, check: Check): string[] {
  const tokens = stringsOf(member);
  checkNames(tokens, check, {
    max: { count: BOUNDS.fallbacks, what: 'fallback models' },
    maxLength: BOUNDS.longNameLength,
  });
  return tokens.map((token) => checkText(token, check));
}

/** { "parameter" STRING value } */
function checkParameters(
  members: readonly Member[],
  check: Check,
): ModelSettings['parameters'] | undefined {
  if (members.length === 0) return undefined;
  const names = members.flatMap((member) => stringsOf(member).slice(0, 1));
  checkNames(names, check, { maxLength: BOUNDS.longNameLength });
  checkCount(names, { count: BOUNDS.parameters, what: 'parameters' }, check);
  for (const name of names) checkParameterName(name, check);
  return Object.fromEntries(
    members.map((member) => [stringsOf(member).map(nameOf)[0] ?? '', checkValue(member, check)]),
  );
}

/** Members of a model's request that Parley sets, with the setting to use in their place. */
const OWN_PARAMETERS = new Map([
  ['model', 'the name after "model"'],
  ['messages', 'the prompt and the conversation'],
  ['tools', '"tools"'],
  ['tool_choice', '"tools"'],
  ['functions', '"tools"'],
  ['function_call', '"tools"'],
  ['stream', 'every call, which streams'],
  ['stream_options', 'every call, which streams'],
  ['n', 'every call, which asks for one answer'],
  ['temperature', '"temperature"'],
  ['max_tokens', '"max_tokens"'],
  ['max_completion_tokens', '"max_tokens"'],
  ['reasoning_effort', '"reasoning"'],
  ['response_format', '"output"'],
]);

function checkParameterName(token: Token, check: Check): void {
  const name = checkText(token, check);
  const owner = OWN_PARAMETERS.get(name);
  if (owner !== undefined)
    check.report('invalid-parameter', token, `${quote(name)} is already set by ${owner}`);
}

/** The value of a parameter. A string that is valid JSON is that JSON. */
function checkValue(member: Member, { report }: Check): JsonValue {
  const number = member.arguments.find(({ kind }) => kind === 'number');
  if (number?.kind === 'number') return number.value;
  const [word] = namesOf(member);
  if (word) return word.text === 'true';
  const token = stringsOf(member)[1];
  if (!token) return null;
  const text = nameOf(token);
  const value = parseJson(text);
  if (value === undefined) {
    if (/^\s*[{[]/.test(text))
      report('invalid-parameter', token, 'this value begins as JSON, but it is not valid JSON');
    return text;
  }
  if (isDeeper(value, BOUNDS.jsonLevels))
    report('invalid-parameter', token, `this value has over ${BOUNDS.jsonLevels} levels`);
  return value;
}
