// Starts GraphiQL; `build.ts` puts it behind the bundle, in the same file.
{
  const root = document.querySelector('#root');
  const { editorWorker, jsonWorker, graphqlWorker, query, headers } = root.dataset;
  const workers = { editorWorkerService: editorWorker, json: jsonWorker, graphql: graphqlWorker };
  globalThis.MonacoEnvironment = { getWorkerUrl: (_module, label) => workers[label] };
  // GraphiQL writes descriptions, which are Markdown, as HTML. `script-src` blocks scripts in it; texts that are to
  // become scripts or their addresses stay forbidden.
  globalThis.trustedTypes?.createPolicy('default', { createHTML: (html) => html });
  // Versions before this one kept typed headers there, with the key.
  localStorage.removeItem('graphiql:headers');
  localStorage.removeItem('graphiql:shouldPersistHeaders');
  if (localStorage.getItem('graphiql:tabState')?.includes('Bearer')) {
    localStorage.removeItem('graphiql:tabState');
  }
  globalThis.YogaGraphiQL.renderYogaGraphiQL(root, {
    // A list, because React writes a text here as HTML, which `require-trusted-types-for` forbids.
    title: ['Parley'],
    defaultQuery: query,
    headers,
    defaultEditorToolsVisibility: 'headers',
    shouldPersistHeaders: false,
  });
}
