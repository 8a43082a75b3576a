import type { Plugin } from 'vite';

/** The layers of all style sheets, the weakest first. GraphiQL's style sheet has a separate layer. */
const LAYERS = '@layer tokens, base, graphiql, parts, screens;';

/** Begins every style sheet with the order of the layers, because the browser keeps the order that it meets first. */
export function orderLayers(): Plugin {
  return {
    name: 'order-layers',
    enforce: 'pre',
    transform: {
      filter: { id: /\/src\/console\/.*\.css$/ },
      handler: (code) => ({ code: `${LAYERS}\n${code}`, map: null }),
    },
  };
}
