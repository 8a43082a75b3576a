import type { FastifyInstance } from 'fastify';

/** A hash in the name of a file. */
const HASHED = /^(.*\/assets\/).*$/;

/** The routes of a server, as `METHOD /path`. A HEAD route counts as its GET route; files with hashes in their names count as one. */
export function routesOf(app: FastifyInstance): string[] {
  const routes = new Set<string>();
  const parents: string[] = [];
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', part = '', methods = ''] =
      /^([\s│]*)[├└]── (.*?)(?: \(([A-Z, ]+)\))?$/.exec(line) ?? [];
    if (!part) continue;
    const level = indent.length / 4;
    const path = `${level > 0 ? parents[level - 1] : ''}${part}`;
    parents[level] = level === 0 && part === '/' ? '/' : path;
    for (const method of methods.split(', ')) {
      if (method !== 'HEAD' && method) routes.add(`${method} ${path.replace(HASHED, '$1*')}`);
    }
  }
  return [...routes];
}
