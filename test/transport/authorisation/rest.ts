import { parse } from 'graphql';
import { routes } from '../../../src/transport/routes.ts';
import type { Ids, Sent } from './table.ts';

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
  { query = '', body }: Sent,
  ids: Ids,
): { method: string; path: string; body: object | undefined } {
  const { bot, run, deployment, approval, evaluation } = ids;
  const route = routes.find((candidate) => candidate.id === id);
  if (!route) throw new Error(`There is no route "${id}".`);
  const path = route.path
    .replace(':id', bot)
    .replace(':run_id', run)
    .replace(':response_id', run)
    .replace(':model', bot)
    .replace(':deployment_id', deployment)
    .replace(':approval_id', approval)
    .replace(':evaluation_id', evaluation);
  const url = `/v1${path}${query}`;
  return { method: route.method, path: url, body: typeof body === 'function' ? body(ids) : body };
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
