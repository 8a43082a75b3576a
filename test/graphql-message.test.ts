import { buildSchema, parse, validate } from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import { describe, expect, test } from 'vitest';
import { withoutValues } from '../src/graphql-message.ts';

const schema = buildSchema(`
  enum Colour { RED BLUE }
  input Inner { text: String! number: Int colour: Colour }
  type Query { field(input: Inner, list: [Inner!], text: String, colour: Colour): Int }
`);

const CANARY = 'canary; at "x"; Expected: y';

/** What graphql-js says of a variable's value. */
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

describe('what GraphQL refuses', () => {
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
  ])('in a variable of %s is told without its value: %j', (type, value, expected) => {
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
  ])('in a document is told without its value: %s', (source, expected) => {
    expect(ofDocument(source).map(withoutValues)).toEqual([expected]);
  });

  test.each([
    ['a value that looks like a message', (text: string) => `{ field(${text}) }`],
    ['a name that is one long word', (text: string) => `{ ${text.replaceAll(/\W/g, 'x')} }`],
  ])('is told in little time, however long it is: %s', (_what, documentOf) => {
    const text = JSON.stringify(' cannot represent '.repeat(60_000));
    const messages = ofDocument(documentOf(text));
    const before = process.cpuUsage();
    const [told = ''] = messages.map(withoutValues);
    // A pattern that reads the value takes more than 20 seconds for it.
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
    expect(told.length).toBeGreaterThan(0);
    expect(told.length).toBeLessThan(2_002);
  });
});
