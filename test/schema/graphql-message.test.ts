import { buildSchema, parse, validate } from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import { describe, expect, test } from 'vitest';
import { withoutValues } from '../../src/schema/graphql-message.ts';

const schema = buildSchema(`
  enum Colour { RED BLUE }
  input Inner { text: String! number: Int colour: Colour }
  type Query { field(input: Inner, list: [Inner!], text: String, colour: Colour): Int }
`);

const CANARY = 'canary; at "x"; Expected: y';

/** The messages of graphql-js about a variable's value. */
const ofVariable = (type: string, value: unknown) => {
  const document = parse(`query ($input: ${type}) { field }`);
  const [operation] = document.definitions;
  if (operation?.kind !== 'OperationDefinition') throw new Error('no operation');
  const { errors = [] } = getVariableValues(schema, operation.variableDefinitions ?? [], {
    input: value,
  });
  return errors.map(({ message }) => message);
};

const ofDocument = (source: string) => {
  try {
    return validate(schema, parse(source)).map(({ message }) => message);
  } catch (error) {
    return [String(error instanceof Error && error.message)];
  }
};

describe('an error message of GraphQL', () => {
  test.each([
    [
      'Inner',
      { text: { a: CANARY } },
      'Variable "$input" got an invalid value at "input.text"; String cannot represent a non string value',
    ],
    [
      'Inner',
      { number: 1 },
      'Variable "$input" got an invalid value; Field "text" of required type "String!" was not provided.',
    ],
    [
      'Inner',
      { text: CANARY, numbr: 1 },
      'Variable "$input" got an invalid value; Field "numbr" is not defined by type "Inner". Did you mean "number"?',
    ],
    [
      'Inner',
      CANARY,
      'Variable "$input" got an invalid value; Expected type "Inner" to be an object.',
    ],
    [
      '[Inner!]',
      [null],
      'Variable "$input" got an invalid value at "input[0]"; Expected non-nullable type "Inner!" not to be null.',
    ],
    [
      'Int',
      CANARY,
      'Variable "$input" got an invalid value; Int cannot represent non-integer value',
    ],
    ['Colour', CANARY, 'Variable "$input" got an invalid value.'],
  ])('about a variable of type %s contains no value: %j', (type, value, expected) => {
    const [message = ''] = ofVariable(type, value).map(withoutValues);
    expect(message).not.toContain('canary');
    expect(message).toBe(expected);
  });

  test.each([
    ['{ field(text: {a: "canary"}) }', 'String cannot represent a non string value.'],
    ['{ field(input: "canary") }', 'Expected value of type "Inner".'],
    ['{ field(colour: "canary") }', 'Enum "Colour" cannot represent non-enum value.'],
    ['{ field "canary" }', 'Syntax Error: Expected Name, found String.'],
    ['{ field """canary""" }', 'Syntax Error: Expected Name, found BlockString.'],
    ['{ nothing }', 'Cannot query field "nothing" on type "Query".'],
    ['{ field(', 'Syntax Error: Expected Name, found <EOF>.'],
  ])('about a document contains no value: %s', (source, expected) => {
    expect(ofDocument(source).map(withoutValues)).toEqual([expected]);
  });

  test.each([
    ['a value that resembles a message', (text: string) => `{ field(${text}) }`],
    ['a name that is one long word', (text: string) => `{ ${text.replaceAll(/\W/g, 'x')} }`],
  ])('is masked in little time, regardless of length: %s', (_what, documentOf) => {
    const text = JSON.stringify(' cannot represent '.repeat(60_000));
    const messages = ofDocument(documentOf(text));
    const before = process.cpuUsage();
    const [masked = ''] = messages.map(withoutValues);
    // A regular expression that scans the value would take more than 20 seconds.
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
    expect(masked.length).toBeGreaterThan(0);
    expect(masked.length).toBeLessThan(2_002);
  });
});
