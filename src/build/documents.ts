/**
 * `npm run documents`: writes `src/generated/operations` from `schema.graphql` and the `.graphql` files of `src/operations`.
 * REST (with MCP), OpenAI's API, the console and the command each have a folder and a generated module, with a constant and types for each
 * operation. All use the fragments of `shared/`; the console and the command also have its operations. `persisted.ts` has
 * the texts of all operations by their ids.
 */
import { hash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codegen } from '@graphql-codegen/core';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import {
  type DefinitionNode,
  type DocumentNode,
  getOperationAST,
  Kind,
  OperationTypeNode,
  parse,
  print,
  separateOperations,
  visit,
} from 'graphql';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = join(ROOT, 'src/operations');
const DIRECTORY = join(ROOT, 'src/generated/operations');
const NOTICE =
  '// Written by `npm run documents`. Edit the .graphql files of `src/operations` instead.\n';

const SCHEMA = parse(readFileSync(join(ROOT, 'schema.graphql'), 'utf8'));
const OBJECTS = SCHEMA.definitions.flatMap((definition) =>
  definition.kind === Kind.OBJECT_TYPE_DEFINITION ? [definition.name.value] : [],
);
const SHARED = definitionsIn('shared');
const FRAGMENTS = SHARED.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION);

/** An operation with its text, which has the fragments that it uses. Its types are named `type` and `typeVariables`. */
type Printed = { name: string; type: string; kind: string; text: string; id: string };

type Module = {
  name: string;
  document: DocumentNode;
  schema: DocumentNode;
  /** The types of scalars. REST gets the values of the schema in its process, and the others read JSON. */
  scalars: { DateTime: string; JSON: string };
  imports: string;
  constantOf(operation: Printed): string;
};

/** The documents of an interface whose routes the engine executes in the process of the server. */
const ofRoutes = (name: string): Module => ({
  name,
  document: documentOf(definitionsIn(name), FRAGMENTS),
  schema: withoutErrors(SCHEMA),
  scalars: { DateTime: 'Date', JSON: 'JsonObject' },
  imports:
    "import type { JsonObject } from '../../text/json.ts';\nimport type { Operation } from '../../transport/engine.ts';\n",
  constantOf: ({ name, type, text }) =>
    `export const ${name}: Operation<${type}Variables, ${type}> = { document: \`${text}\` };\n`,
});

const MODULES: Module[] = [
  ofRoutes('rest'),
  ofRoutes('openai'),
  {
    // The console has only the ids, which keeps it small: the server that serves it knows the texts.
    name: 'console',
    document: withTypenames(documentOf(definitionsIn('console'), SHARED)),
    schema: SCHEMA,
    scalars: { DateTime: 'string', JSON: 'unknown' },
    imports:
      "import { OperationTypeNode } from 'graphql';\nimport { persisted } from '../../console/server/persisted.ts';\n",
    constantOf: ({ name, type, kind, id }) =>
      `export const ${name} = /* @__PURE__ */ persisted<${type}, ${type}Variables>(OperationTypeNode.${kind}, '${id}');\n`,
  },
  {
    // A server of another version may not know the ids of the command, so the command has the texts too.
    name: 'command',
    document: documentOf(definitionsIn('command'), SHARED),
    schema: SCHEMA,
    scalars: { DateTime: 'string', JSON: 'unknown' },
    imports: "import type { Persisted } from '../../command/server/graphql.ts';\n",
    constantOf: ({ name, type, id, text }) =>
      `export const ${name}: Persisted<${type}, ${type}Variables> = { id: '${id}', text: \`${text}\` };\n`,
  },
];

function definitionsIn(folder: string): readonly DefinitionNode[] {
  const files = globSync('*.graphql', { cwd: join(SOURCES, folder) }).sort();
  return files.flatMap(
    (file) => parse(readFileSync(join(SOURCES, folder, file), 'utf8')).definitions,
  );
}

function documentOf(...definitions: (readonly DefinitionNode[])[]): DocumentNode {
  return { kind: Kind.DOCUMENT, definitions: definitions.flat() };
}

/** REST throws every error of a result, and only an error makes an object of the root null. */
function withoutErrors(schema: DocumentNode): DocumentNode {
  return visit(schema, {
    ObjectTypeDefinition: ({ name }) =>
      ['Query', 'Mutation'].includes(name.value) ? undefined : false,
    FieldDefinition(field) {
      const { type } = field;
      if (type.kind !== Kind.NAMED_TYPE || !OBJECTS.includes(type.name.value)) return undefined;
      return { ...field, type: { kind: Kind.NON_NULL_TYPE, type } };
    },
  });
}

/** The console's cache invalidates by type, so every object in an answer names its type. */
function withTypenames(document: DocumentNode): DocumentNode {
  const typename = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } } as const;
  return visit(document, {
    SelectionSet(node, _key, parent) {
      const isNamed = node.selections.some(
        (selection) => selection.kind === Kind.FIELD && selection.name.value === '__typename',
      );
      const isField = parent && 'kind' in parent && parent.kind === Kind.FIELD;
      if (isNamed || !isField) return undefined;
      return { ...node, selections: [typename, ...node.selections] };
    },
  });
}

/** Each operation of a document, with the fragments that it uses. */
function operationsOf(document: DocumentNode): Printed[] {
  return Object.entries(separateOperations(document)).map(([name, single]) => {
    const operation = getOperationAST(single)?.operation ?? OperationTypeNode.QUERY;
    const type = `${name}${operation[0]?.toUpperCase()}${operation.slice(1)}`;
    const text = print(single);
    const id = `sha256:${hash('sha256', text)}`;
    return { name, type, kind: operation.toUpperCase(), text, id };
  });
}

/** The types of a module's operations. @throws an error if one does not match the schema. */
function typesOf({ document, schema, scalars }: Module): Promise<string> {
  return codegen({
    filename: 'operations.ts',
    schema,
    documents: [{ document }],
    plugins: [{ operations: {} }],
    pluginMap: { operations: typescriptOperations },
    config: {
      scalars: { ...scalars, Date: 'string', ID: 'string' },
      strictScalars: true,
      skipTypename: true,
    },
  });
}

const persisted = new Map<string, string>();
const files = new Map<string, string[]>();
for (const module of MODULES) {
  const operations = operationsOf(module.document);
  const constants = operations.map(module.constantOf);
  files.set(module.name, [module.imports, await typesOf(module), ...constants]);
  for (const { id, text } of operations) persisted.set(id, text);
}
const entries = [...persisted].map(([id, text]) => `  '${id}': \`${text}\`,\n`);
files.set('persisted', [
  `export const PERSISTED: Readonly<Record<string, string>> = {\n${entries.join('')}};\n`,
]);

// An invalid document leaves the earlier files as they were.
rmSync(DIRECTORY, { recursive: true, force: true });
mkdirSync(DIRECTORY, { recursive: true });
for (const [name, parts] of files)
  writeFileSync(join(DIRECTORY, `${name}.ts`), [NOTICE, ...parts].join('\n'));
