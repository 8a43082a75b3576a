/**
 * `npm run documents`: writes the documents of the console and of the command, from the `.graphql` files of their
 * folders. `operations.ts` has the types of each operation. The console's has only the id of each text, and
 * `documents.ts` has the texts, which the server persists. The command's has both, for servers of other versions.
 */
import { hash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { codegen } from '@graphql-codegen/core';
import * as typescriptOperations from '@graphql-codegen/typescript-operations';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  visit,
} from 'graphql';

const HERE = new URL('./', import.meta.url);
const NOTICE = '// Written by `npm run documents`. Edit the .graphql files instead.\n';

const CONFIG = {
  scalars: { Date: 'string', DateTime: 'string', JSON: 'unknown', ID: 'string' },
  strictScalars: true,
  skipTypename: true,
};

/** @returns the contents of the generated files, by their paths in this folder. */
export async function printedDocuments(): Promise<Record<string, string>> {
  return { ...(await printedForConsole()), ...(await printedForCommand()) };
}

async function printedForConsole(): Promise<Record<string, string>> {
  const source = withTypenames(await readFolder('console'));
  const operations = operationsOf(source);
  const ids = operations.map(
    ({ name, type, kind, id }) =>
      `export const ${name} = /* @__PURE__ */ persisted<${type}, ${type}Variables>(\n  OperationTypeNode.${kind},\n  '${id}',\n);\n`,
  );
  const imported =
    "import { OperationTypeNode } from 'graphql';\nimport { persisted } from './persisted.ts';\n";
  const list = operations.map(({ text }) => `  \`${text}\`,\n`).join('');
  return {
    'console/operations.ts': [NOTICE, imported, await typesOf(source), ...ids].join('\n'),
    'console/documents.ts': `${NOTICE}\n/** The texts of the console's operations. */\nexport const CONSOLE_DOCUMENTS = [\n${list}];\n`,
  };
}

async function printedForCommand(): Promise<Record<string, string>> {
  const source = await readFolder('command');
  const constants = operationsOf(source).map(
    ({ name, type, id, text }) =>
      `export const ${name} = persisted<${type}, ${type}Variables>(\n  '${id}',\n  \`${text}\`,\n);\n`,
  );
  const imported = "import { persisted } from './persisted.ts';\n";
  return {
    'command/operations.ts': [NOTICE, imported, await typesOf(source), ...constants].join('\n'),
  };
}

async function readFolder(name: string): Promise<DocumentNode> {
  const folder = new URL(`${name}/`, HERE);
  const files = (await readdir(folder)).filter((file) => file.endsWith('.graphql')).sort();
  const texts = await Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')));
  return parse(texts.join('\n'));
}

async function typesOf(document: DocumentNode): Promise<string> {
  return codegen({
    filename: 'operations.ts',
    schema: parse(await readFile(new URL('../../schema.graphql', HERE), 'utf8')),
    documents: [{ document }],
    plugins: [{ operations: {} }],
    pluginMap: { operations: typescriptOperations },
    config: CONFIG,
  });
}

/** The console's cache invalidates by type, so every object in an answer names its type. */
function withTypenames(document: DocumentNode): DocumentNode {
  const typename = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: '__typename' } } as const;
  return visit(document, {
    SelectionSet(node, _key, parent) {
      const isRoot = parent && 'kind' in parent && parent.kind === Kind.OPERATION_DEFINITION;
      const isNamed = node.selections.some(
        (selection) => selection.kind === Kind.FIELD && selection.name.value === '__typename',
      );
      const isField = parent && 'kind' in parent && parent.kind === Kind.FIELD;
      if (isRoot || isNamed || !isField) return undefined;
      return { ...node, selections: [typename, ...node.selections] };
    },
  });
}

type Printed = { name: string; type: string; kind: string; text: string; id: string };

/** Each operation as one text, with the fragments that it uses. */
function operationsOf({ definitions }: DocumentNode): Printed[] {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION)
      fragments.set(definition.name.value, definition);
  }
  return definitions.flatMap((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return [];
    const { operation, name: { value: name = '' } = {} } = definition;
    const used = fragmentsOf(definition, fragments);
    const type = `${name}${operation[0]?.toUpperCase()}${operation.slice(1)}`;
    const text = [definition, ...used].map(print).join('\n\n');
    const id = `sha256:${hash('sha256', text)}`;
    return [{ name, type, kind: operation.toUpperCase(), text, id }];
  });
}

function fragmentsOf(
  root: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): Set<FragmentDefinitionNode> {
  const used = new Set<FragmentDefinitionNode>();
  const collect = (node: OperationDefinitionNode | FragmentDefinitionNode) =>
    visit(node, {
      FragmentSpread({ name: { value } }) {
        const fragment = fragments.get(value);
        if (!fragment || used.has(fragment)) return;
        used.add(fragment);
        collect(fragment);
      },
    });
  collect(root);
  return used;
}

if (import.meta.main) {
  for (const [name, content] of Object.entries(await printedDocuments())) {
    await writeFile(new URL(name, HERE), content);
    console.log(`Wrote src/operations/${name}`);
  }
}
