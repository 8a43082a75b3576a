import {
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  isScalarType,
  OperationTypeNode,
} from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { costOf } from '../../../src/schema/admission/cost.ts';
import { readDocument } from '../../../src/schema/admission/document.ts';
import { assertReadable } from '../../../src/schema/admission/weight.ts';
import { schema } from '../../../src/schema/index.ts';
import { type HeavyDocument, heaviestDocuments, MEASURES } from './heaviest.ts';
import { heavyValues, LENGTHS } from './longest-values.ts';
import { pathsFrom } from './paths.ts';

const ids = { Run: ['run_1'], Bot: ['bot_1'] };
const options = {
  valuesFor: ({ name }: { name: string }) => heavyValues(ids, name),
  lengths: LENGTHS,
};

/** Whether admission accepts an operation from a key of the plan Free. */
function isAdmitted({ query, variables }: Pick<HeavyDocument, 'query' | 'variables'>): boolean {
  const { document } = readDocument(schema, query);
  if (!document || costOf(document) > 10) return false;
  try {
    assertReadable(schema, document, undefined, variables);
    return true;
  } catch {
    return false;
  }
}

describe('the heaviest documents of runs', () => {
  let documents: HeavyDocument[];
  const named = (measure: string) => documents.filter(({ name }) => name.endsWith(measure));
  beforeAll(() => {
    documents = heaviestDocuments(
      schema,
      OperationTypeNode.QUERY,
      options,
      ({ name }) => name === 'Run',
    );
  });

  test('exist for each measure', () => {
    expect([...new Set(documents.map(({ measure }) => measure))]).toEqual(MEASURES);
  });

  test('are admitted, and name all of their variables', () => {
    for (const document of documents) {
      expect(isAdmitted(document), document.name).toBe(true);
      const used = [...document.query.matchAll(/\$(\w+)/g)].map(([, name = '']) => name);
      expect(Object.keys(document.variables)).toEqual(expect.arrayContaining(used));
    }
  });

  test('are refused with more of the same', () => {
    for (const document of named('objects')) {
      const more = Array.from({ length: 60 }, (_, index) => `more${index}: __typename`).join(' ');
      const query = document.query.replace(/}$/, `${more} }`);
      expect(isAdmitted({ ...document, query }), document.query).toBe(false);
    }
  });

  test('repeat the longest texts, or the runs with them, for the most bytes', () => {
    const queries = named('bytes').map(({ query }) => query);
    for (const query of queries) expect(query).toMatch(/\b(response|replyText|result)\b/);
    expect(queries).toContainEqual(expect.stringMatching(/\w+: (response|replyText)/));
  });

  test('look up each object that a run has for the most statements', () => {
    for (const { query } of named('statements')) {
      expect(query).toMatch(/\bbot \{/);
      expect(query).toMatch(/\bdeployment \{/);
    }
  });
});

test('subscriptions have heaviest documents too', () => {
  const documents = heaviestDocuments(
    schema,
    OperationTypeNode.SUBSCRIPTION,
    options,
    ({ name }, path) => name === 'Deployment' && path.length === 1,
  );
  expect(documents.map(({ measure }) => measure)).toEqual(MEASURES);
  for (const document of documents) expect(isAdmitted(document)).toBe(true);
});

test('a tenant reaches every type but the types for operators, for new secrets and for introspection', () => {
  const reached = Object.values(OperationTypeNode).flatMap((operation) => {
    const root = schema.getRootType(operation);
    return root
      ? [
          root.name,
          ...[...pathsFrom(schema, root, options.valuesFor(root)).keys()].map(({ name }) => name),
        ]
      : [];
  });
  const unreached = Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) && !type.name.startsWith('__') && !reached.includes(type.name)
      ? [type.name]
      : [],
  );
  expect(unreached.sort()).toEqual([
    'AccountConnection',
    'AccountEdge',
    'CreateAccountPayload',
    'CreateApiKeyPayload',
    'CreateSessionTokenPayload',
    'Dependency',
    'RotateApiKeyPayload',
    'ServerCheck',
  ]);
});

/** Texts and lists with a short longest length, which need no value in the heavy account. */
const SHORT = new Set([
  ...['cursor', 'startCursor', 'endCursor', 'id', 'runId', 'keyId', 'botId', 'spanId', 'parentId'],
  ...['decidedById', 'followUpRunId', 'causedById', 'evaluationId'],
  'deploymentId',
  ...['traceId', 'callId', 'code', 'prefix', 'version', 'edges', 'channels'],
]);

test('the heavy account has a longest value for every text and list that a tenant can read', () => {
  const root = schema.getQueryType();
  if (!root) throw new Error('The schema has no queries.');
  const missing = [...pathsFrom(schema, root, options.valuesFor(root)).keys()].flatMap((type) =>
    Object.values(type.getFields()).flatMap((field) => {
      const named = getNamedType(field.type);
      const isText = isScalarType(named) && ['String', 'ID', 'JSON'].includes(named.name);
      const isList = isListType(getNullableType(field.type));
      const name = `${type.name}.${field.name}`;
      const isOperators = field.description?.includes('Requires the scope OPERATOR');
      const isKnown = name in LENGTHS || SHORT.has(field.name) || isOperators;
      return (isText || isList) && !isKnown ? [name] : [];
    }),
  );
  expect(missing).toEqual([]);
});
