import { expect, test } from 'vitest';
import { writeBody } from '../../src/model/body.ts';
import { firstForm } from '../../src/model/form.ts';
import type { ModelRequest } from '../../src/model/model.ts';
import type { JsonObject } from '../../src/text/json.ts';

/** The parameters of a tool as a request has them. */
function sentParameters(parameters: JsonObject): unknown {
  const request: ModelRequest = {
    model: 'm',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ name: 'f', description: 'F', parameters }],
    timeout: 1_000,
  };
  const body = writeBody(request, firstForm('http://localhost/v1'));
  return JSON.parse(JSON.stringify(body.tools))[0].function.parameters;
}

test('a tool without inputs has a schema that strict servers accept', () => {
  const empty = { type: 'object', properties: {} };
  expect(sentParameters({ ...empty, additionalProperties: false })).toEqual(empty);
  expect(sentParameters(empty)).toEqual(empty);
});

test('the schema of a tool with inputs, or with any inputs, stays as it is', () => {
  const properties = { city: { type: 'string' } };
  for (const schema of [
    { type: 'object', properties, additionalProperties: false },
    { type: 'object', properties: {}, additionalProperties: { type: 'string' } },
    { type: 'object', properties: {}, additionalProperties: true },
  ]) {
    expect(sentParameters(schema)).toEqual(schema);
  }
});
