import {
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  getOperationAST,
  isInputObjectType,
  isInputType,
  isListType,
  typeFromAST,
} from 'graphql';
import { invalidInput } from '../../errors/errors.ts';
import { isJsonObject } from '../../text/json.ts';

/** Maximum entries of a list in a variable. Exceeds the limit of each list in the schema. */
const MAX_ENTRIES = 1_000;

/** Fields of an input object that its type does not have. The coercion would compare each of them with all known names. */
const MAX_UNKNOWN_FIELDS = 50;

/**
 * Rejects variables with long lists or many unknown fields, because each invalid entry would produce a separate error. Values of type JSON
 * are not checked here: each is validated as a whole.
 *
 * @param document a valid document.
 * @throws GatewayError `invalid_request`
 */
export function assertShortLists(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Readonly<Record<string, unknown>> | null | undefined,
): void {
  const definitions = getOperationAST(document, operationName)?.variableDefinitions ?? [];
  for (const { variable, type } of definitions) {
    const name = variable.name.value;
    const inputType = typeFromAST(schema, type);
    if (isInputType(inputType)) assertShort(inputType, variables?.[name], name);
  }
}

function assertShort(type: GraphQLInputType, value: unknown, path: string): void {
  const nullable = getNullableType(type);
  if (isListType(nullable) && Array.isArray(value)) {
    if (value.length > MAX_ENTRIES) {
      const message = `has ${value.length} entries; at most ${MAX_ENTRIES} are allowed`;
      throw invalidInput([{ path, message }]);
    }
    for (const entry of value) assertShort(nullable.ofType, entry, path);
  } else if (isInputObjectType(nullable) && isJsonObject(value)) {
    const fields = nullable.getFields();
    const given = Object.keys(value).length;
    const known = Object.keys(fields).length;
    if (given > known + MAX_UNKNOWN_FIELDS) {
      const message = `has ${given} fields; ${nullable.name} has ${known}`;
      throw invalidInput([{ path, message }]);
    }
    for (const field of Object.values(fields)) {
      assertShort(field.type, value[field.name], `${path}.${field.name}`);
    }
  }
}
