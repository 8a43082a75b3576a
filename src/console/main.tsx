import './design/tokens.css';
import './design/base.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Provider } from 'urql';
import { App } from './app.tsx';
import { applyTheme } from './frame/theme.ts';
import { client } from './server/client.ts';

// The files of an earlier build are gone after an update. The new page names the new ones.
addEventListener('vite:preloadError', () => location.reload());

applyTheme();
const root = document.querySelector('#root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <Provider value={client}>
        <App />
      </Provider>
    </StrictMode>,
  );
}
