import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { StartupError } from '../../../errors/errors.ts';

/** The directory to which `npm run generate` writes GraphiQL's files. */
export const GRAPHIQL_DIRECTORY = join(import.meta.dirname, '../../../generated/graphiql');

/** The names of GraphiQL's files, each with a hash of its content. */
export type GraphiQLFiles = {
  script: string;
  style: string;
  editorWorker: string;
  jsonWorker: string;
  graphqlWorker: string;
};

/** @throws StartupError if the files have not been generated. */
export function findGraphiQLFiles(): GraphiQLFiles {
  const names = namesIn(GRAPHIQL_DIRECTORY);
  const find = (prefix: string, extension: string) => {
    const found = names.find((name) => name.startsWith(`${prefix}-`) && name.endsWith(extension));
    if (!found) throw new StartupError("GraphiQL's files are missing. Run: npm run generate");
    return found;
  };
  return {
    script: find('graphiql', '.js'),
    style: find('graphiql', '.css'),
    editorWorker: find('editor-worker', '.js'),
    jsonWorker: find('json-worker', '.js'),
    graphqlWorker: find('graphql-worker', '.js'),
  };
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
