import { parse } from 'graphql';
import { routes } from '../../../src/transport/rest/routes.ts';
import type { Ids, Row } from './table.ts';

/** Each route with each of its root fields, from the documents that it prepares. */
export function rootFieldsOfRoutes(): string[] {
  return routes.flatMap(({ id, prepare }) => {
    const fields = new Set<string>();
    prepare({
      prepare({ document }) {
        for (const field of rootFieldsOf(document)) fields.add(field);
      },
    });
    return [...fields].map((field) => `${field} by ${id}`);
  });
}

/** The request to a route, relative to a server's base URL. */
export function requestOf(
  id: string,
  { query = '', body }: NonNullable<Row['rest']>[string],
  { bot, run, deployment }: Ids,
) {
  const route = routes.find((candidate) => candidate.id === id);
  if (!route) throw new Error(`There is no route "${id}".`);
  const path = route.path
    .replace(':id', bot)
    .replace(':run_id', run)
    .replace(':deployment_id', deployment);
  return { method: route.method, path: `/v1${path}${query}`, body };
}

function rootFieldsOf(document: string): string[] {
  return parse(document).definitions.flatMap((definition) => {
    if (definition.kind !== 'OperationDefinition') return [];
    const { operation, selectionSet } = definition;
    const type = operation.charAt(0).toUpperCase() + operation.slice(1);
    return selectionSet.selections.flatMap((selection) =>
      selection.kind === 'Field' ? [`${type}.${selection.name.value}`] : [],
    );
  });
}
