/**
 * `npm run documents`: writes the console's documents, from the `.graphql` files of this folder, in two forms.
 * `operations.ts` has the id and the types of each operation, for the console. `documents.ts` has the texts, which the
 * server persists.
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

/** @returns the contents of the two generated files, by name. */
export async function printedDocuments(): Promise<Record<string, string>> {
  const schema = parse(await readFile(new URL('../../../schema.graphql', HERE), 'utf8'));
  const names = (await readdir(HERE)).filter((name) => name.endsWith('.graphql')).sort();
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, HERE), 'utf8')));
  const source = withTypenames(parse(texts.join('\n')));
  const types = await codegen({
    filename: 'operations.ts',
    schema,
    documents: [{ document: source }],
    plugins: [{ operations: {} }],
    pluginMap: { operations: typescriptOperations },
    config: CONFIG,
  });
  const operations = operationsOf(source);
  const ids = operations.map(({ name, type, kind, text }) => {
    const id = `sha256:${hash('sha256', text)}`;
    return `export const ${name} = persisted<${type}, ${type}Variables>(\n  OperationTypeNode.${kind},\n  '${id}',\n);\n`;
  });
  const imported =
    "import { OperationTypeNode } from 'graphql';\nimport { persisted } from './persisted.ts';\n";
  const list = operations.map(({ text }) => `  \`${text}\`,\n`).join('');
  return {
    'operations.ts': [NOTICE, imported, types, ...ids].join('\n'),
    'documents.ts': `${NOTICE}\n/** The texts of the console's operations. */\nexport const CONSOLE_DOCUMENTS = [\n${list}];\n`,
  };
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

type Printed = { name: string; type: string; kind: string; text: string };

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
    return [{ name, type, kind: operation.toUpperCase(), text }];
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
    console.log(`Wrote src/operations/console/${name}`);
  }
}
