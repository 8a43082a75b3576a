// Starts GraphiQL. `build.ts` appends this file to the bundle.
{
  const page = document.querySelector('#root');
  const { editorWorker, jsonWorker, graphqlWorker, query, headers } = page.dataset;
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

  // Marks the page's own requests. The server accepts the session's cookie with it only.
  const own = { 'x-parley-console': '1' };

  /** The name of the key that the session of this browser has; none: nobody is signed in. */
  const signedInKey = async () => {
    try {
      const response = await fetch(location.pathname, {
        method: 'POST',
        headers: { ...own, 'content-type': 'application/json', accept: 'application/json' },
        body: '{"query":"{ viewer { apiKey { name } } }"}',
        signal: AbortSignal.timeout(5_000),
      });
      return (await response.json()).data?.viewer.apiKey.name;
    } catch {
      return undefined;
    }
  };

  /** Shows GraphiQL anew in the theme that the console's frame has chosen. The tabs stay, because GraphiQL stores them. */
  const show = (typed) => {
    const place = document.createElement('div');
    page.replaceChildren(place);
    globalThis.YogaGraphiQL.renderYogaGraphiQL(place, {
      // An array, because React would set a string as HTML, which `require-trusted-types-for` forbids.
      title: ['Parley'],
      defaultQuery: query,
      headers: typed.text,
      onEditHeaders: (text) => {
        typed.text = text;
      },
      additionalHeaders: own,
      defaultEditorToolsVisibility: 'headers',
      shouldPersistHeaders: false,
      forcedTheme: document.documentElement.dataset.theme ?? 'system',
    });
  };

  const start = async () => {
    const key = await signedInKey();
    document.querySelector('#credential').textContent = key
      ? `Operations run with your key ${key}.`
      : 'Not signed in: put an API key into the headers.';
    // Kept in memory only: GraphiQL must not store a typed key.
    const typed = { text: key ? '{}' : headers };
    const again = () => show(typed);
    again();
    new MutationObserver(again).observe(document.documentElement, {
      attributeFilter: ['data-theme'],
    });
    // The editors take the system's theme only when they start.
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', again);
  };
  void start();
}
