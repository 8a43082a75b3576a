import { createHttpTools } from '../../../src/agent/tools/http.ts';
import { createEgress } from '../../../src/egress/egress.ts';
import { createRedactor } from '../../../src/redaction/redact.ts';
import { type Site, type SiteHandler, startSite } from '../../helpers/site.ts';
import { callTool } from '../../helpers/tools.ts';
import { agentWith, define } from '../helpers.ts';

/** Begins a response that never ends. */
export const neverEnds: SiteHandler = (_request, response) => response.write('…');

/** Two redirects, and then no response. */
export const redirectsForever: SiteHandler = ({ url }, response) => {
  if (url.length > 3) return;
  response.writeHead(307, { Location: `${url}x` }).end();
};

/**
 * Calls the only capability of a source, at a real server instead of the source's own.
 *
 * @returns the result for the model, or the error's message.
 */
export async function callCapability(
  text: string,
  input: unknown,
  site: Site,
  { signal } = new AbortController(),
): Promise<string> {
  const source = text.replaceAll(/https:\/\/[\w.]+/g, site.origin);
  const [group] = define(agentWith(`  tools g {\n${source}\n  }`)).tools;
  if (group?.type !== 'http') throw new Error('The source has no group of capabilities.');
  const egress = createEgress({ allowedHosts: [site.host] });
  try {
    const redactor = createRedactor({});
    const [tool] = createHttpTools(group, { egress, variables: {}, redactor });
    if (!tool) throw new Error('The source has no capability.');
    return await callTool(tool, input, { signal, values: {} }).catch((error: Error) => {
      signal.throwIfAborted();
      return error.message;
    });
  } finally {
    await egress.close();
  }
}

/** Makes a `get` request with settings. @param run aborts the request. */
export async function answerTo(
  settings: string,
  handler: SiteHandler,
  run = new AbortController(),
): Promise<string> {
  const site = await startSite();
  site.handle(handler);
  const capability = `capability c "d" { get "https://a.example/" { ${settings} } }`;
  try {
    return await callCapability(capability, {}, site, run);
  } finally {
    await site.close();
  }
}
