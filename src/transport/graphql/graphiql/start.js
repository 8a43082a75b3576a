// Starts GraphiQL. `build.ts` appends this file to the bundle.
{
  const root = document.querySelector('#root');
  const { editorWorker, jsonWorker, graphqlWorker, query, headers } = root.dataset;
  const workers = { editorWorkerService: editorWorker, json: jsonWorker, graphql: graphqlWorker };
  globalThis.MonacoEnvironment = { getWorkerUrl: (_module, label) => workers[label] };
  // GraphiQL renders Markdown descriptions as HTML strings, so the policy allows those. `script-src` blocks scripts in
  // them, and the policy allows no string as a script or a script URL.
  globalThis.trustedTypes?.createPolicy('default', { createHTML: (html) => html });
  // Earlier versions stored the typed headers there, including the API key.
  localStorage.removeItem('graphiql:headers');
  localStorage.removeItem('graphiql:shouldPersistHeaders');
  if (localStorage.getItem('graphiql:tabState')?.includes('Bearer')) {
    localStorage.removeItem('graphiql:tabState');
  }
  globalThis.YogaGraphiQL.renderYogaGraphiQL(root, {
    // An array, because React would set a string as HTML, which `require-trusted-types-for` forbids.
    title: ['Parley'],
    defaultQuery: query,
    headers,
    defaultEditorToolsVisibility: 'headers',
    shouldPersistHeaders: false,
  });
}
