/**
 * Lets Node.js run the server's TypeScript in `node_modules`, where it strips no types by itself. `parley start` preloads
 * it when Parley is installed as a package.
 */
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The bundle is in `src/generated/command`. */
const ROOT = new URL('../../../', import.meta.url).href;

const isOwn = (url: string) =>
  url.startsWith(ROOT) && !url.slice(ROOT.length).startsWith('node_modules/');

registerHooks({
  load(url, context, nextLoad) {
    if (!isOwn(url) || !url.endsWith('.ts')) return nextLoad(url, context);
    const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'));
    return { format: 'module', source, shortCircuit: true };
  },
});
