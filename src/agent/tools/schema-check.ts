import { isJsonObject, type JsonObject, type JsonValue } from '../../text/json.ts';
import { limitError } from './answer.ts';
import { ToolError } from './tool.ts';

const MAX_PROBLEMS = 20;
/** Comparisons between the input and the schema. */
const MAX_STEPS = 50_000;

const TYPE_NAMES: Record<string, string> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

/**
 * Validates input against an untrusted JSON Schema in bounded time: it stops at the 20th problem and accepts the rest
 * after 50,000 steps. It runs no regular expression and follows no reference: the tool's server must check `pattern`,
 * `format`, `$ref`, `not`, `if`, `uniqueItems` and unknown keywords. We use no library because the known ones find every
 * problem without a bound, or compile the schema to code.
 *
 * @throws ToolError with up to 20 problems, 2 KiB at most.
 */
export function checkAgainst(schema: JsonObject, input: unknown): JsonObject {
  if (!isJsonObject(input)) throw invalid(['must be an object']);
  const problems = problemsOf(schema, input);
  if (problems.length > 0) throw invalid(problems);
  return input;
}

/** The first 20 problems of an object, as in `checkAgainst`. */
export function problemsOf(schema: JsonObject, object: JsonObject): string[] {
  const check: Check = { problems: [], limit: MAX_PROBLEMS, steps: { left: MAX_STEPS } };
  checkValue(schema, object, '', check);
  return check.problems;
}

type Check = { problems: string[]; limit: number; steps: { left: number } };

function invalid(problems: string[]): ToolError {
  return new ToolError(limitError(`The input is not valid. ${problems.join('; ')}`), {
    type: 'invalid_arguments',
  });
}

/** Counts one step. @returns whether the check must stop. */
function isOver({ problems, limit, steps }: Check): boolean {
  steps.left -= 1;
  return steps.left < 0 || problems.length >= limit;
}

function report(check: Check, path: string, problem: string): void {
  if (check.problems.length < check.limit) {
    check.problems.push(path === '' ? problem : `${path}: ${problem}`);
  }
}

function checkValue(schema: JsonValue | undefined, value: JsonValue, path: string, check: Check) {
  if (isOver(check) || !isJsonObject(schema)) return;
  const { type, allOf, anyOf, oneOf } = schema;
  const listed = [type].flat();
  check.steps.left -= listed.length;
  const types = new Set(listed.filter((one) => typeof one === 'string'));
  if (types.size > 0 && ![...types].some((one) => isOfType(one, value))) {
    const names = [...types].map((one) => TYPE_NAMES[one]);
    return report(check, path, `must be ${names.join(' or ')}`);
  }
  if (!checkChoice(schema, value, check)) return report(check, path, choiceProblem(schema));
  if (typeof value === 'string') checkLength(schema, value, path, check);
  if (typeof value === 'number') checkNumber(schema, value, path, check);
  if (Array.isArray(value)) {
    checkSize(schema, 'Items', value.length, path, check);
    for (const [index, element] of value.entries()) {
      if (isOver(check)) return;
      checkValue(schema.items, element, join(path, index), check);
    }
  }
  if (isJsonObject(value)) checkObject(schema, value, path, check);
  for (const one of listOf(allOf)) checkValue(one, value, path, check);
  for (const forms of [listOf(anyOf), listOf(oneOf)]) {
    if (forms.length > 0 && !forms.some((form) => fits(form, value, check))) {
      report(check, path, 'matches none of the allowed schemas');
    }
  }
}

function isOfType(type: string, value: JsonValue): boolean {
  switch (type) {
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isSafeInteger(value);
    case 'null':
      return value === null;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      return isJsonObject(value);
    case 'boolean':
    case 'string':
      return typeof value === type;
    default:
      return true;
  }
}

/** Whether `const` and `enum` allow a value. Only the server compares lists and objects. */
function checkChoice(schema: JsonObject, value: JsonValue, check: Check): boolean {
  const choices = choicesOf(schema);
  check.steps.left -= choices?.length ?? 0;
  return !choices || choices.some((one) => one === value || (typeof one === 'object' && one));
}

function choicesOf({ const: constant, enum: choices }: JsonObject): JsonValue[] | undefined {
  if (constant !== undefined) return [constant];
  return Array.isArray(choices) ? choices : undefined;
}

function choiceProblem(schema: JsonObject): string {
  const choices = choicesOf(schema) ?? [];
  const shown = choices.slice(0, MAX_PROBLEMS).map((one) => JSON.stringify(one));
  return `must be one of ${[...shown, ...(choices.length > shown.length ? ['…'] : [])].join(', ')}`;
}

/** Counts code points, as JSON Schema does. */
function checkLength(schema: JsonObject, text: string, path: string, check: Check): void {
  if (schema.minLength === undefined && schema.maxLength === undefined) return;
  check.steps.left -= Math.ceil(text.length / 16);
  let size = 0;
  for (const _ of text) size += 1;
  checkSize(schema, 'Length', size, path, check);
}

function checkSize(
  schema: JsonObject,
  unit: 'Length' | 'Items',
  size: number,
  path: string,
  check: Check,
): void {
  const [least, most] = [schema[`min${unit}`], schema[`max${unit}`]];
  const what = unit === 'Length' ? 'characters' : 'elements';
  if (typeof least === 'number' && size < least) {
    report(check, path, `must have at least ${least} ${what}`);
  }
  if (typeof most === 'number' && size > most) {
    report(check, path, `must have at most ${most} ${what}`);
  }
}

function checkNumber(schema: JsonObject, value: number, path: string, check: Check): void {
  const { minimum, maximum, exclusiveMinimum: above, exclusiveMaximum: below } = schema;
  if (typeof minimum === 'number' && value < minimum) {
    report(check, path, `must be at least ${minimum}`);
  }
  if (typeof maximum === 'number' && value > maximum) {
    report(check, path, `must be at most ${maximum}`);
  }
  if (typeof above === 'number' && value <= above) report(check, path, `must be above ${above}`);
  if (typeof below === 'number' && value >= below) report(check, path, `must be below ${below}`);
}

function checkObject(schema: JsonObject, value: JsonObject, path: string, check: Check): void {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const listed = listOf(schema.required);
  check.steps.left -= listed.length;
  const required = new Set(listed);
  for (const [name, property] of Object.entries(properties)) {
    if (isOver(check)) return;
    const member = Object.hasOwn(value, name) ? value[name] : undefined;
    if (member !== undefined) checkValue(property, member, join(path, name), check);
    else if (required.has(name)) report(check, join(path, name), 'is required');
    required.delete(name);
  }
  for (const name of required) {
    if (typeof name !== 'string' || Object.hasOwn(value, name)) continue;
    report(check, join(path, name), 'is required');
  }
  const { additionalProperties: others, patternProperties } = schema;
  if (others === undefined || others === true || patternProperties !== undefined) return;
  for (const [name, member] of Object.entries(value)) {
    if (isOver(check)) return;
    if (Object.hasOwn(properties, name)) continue;
    if (others === false) report(check, path, `Unrecognized key: ${JSON.stringify(name)}`);
    else checkValue(others, member, join(path, name), check);
  }
}

/** Whether a value matches a schema; true if the steps run out. It stops at the first problem. */
function fits(schema: JsonValue, value: JsonValue, { steps }: Check): boolean {
  if (schema === false) return false;
  const check = { problems: [], limit: 1, steps };
  checkValue(schema, value, '', check);
  return check.problems.length === 0;
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function join(path: string, name: string | number): string {
  return path === '' ? String(name) : `${path}.${name}`;
}
