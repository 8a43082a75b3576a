import './design/tokens.css';
import './design/font.css';
import './design/base.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Provider } from 'urql';
import { Router } from 'wouter';
import { App } from './app.tsx';
import { useEncodedSearch } from './frame/search.ts';
import { applyTheme } from './frame/theme.ts';
import { client } from './server/client.ts';
import { connection, tryNow } from './server/connection.ts';

// The files of an earlier build are gone after an update. The new page names the new ones. A page that a lost network
// kept from its files stays, with what was typed in it.
addEventListener('vite:preloadError', async () => {
  await tryNow();
  if (!connection.get().isAway) location.reload();
});

applyTheme();
const root = document.querySelector('#root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Provider value={client}>
        <Router searchHook={useEncodedSearch}>
          <App />
        </Router>
      </Provider>
    </StrictMode>,
  );
}
