/** The console's frame on the pages that the server renders: GraphiQL and the REST API reference. */
import './design/tokens.css';
import './design/font.css';
import './design/base.css';
import './frame/frame.css';
import './frame/page.css';
import './frame/screen.css';
import { StrictMode } from 'react';
import { createPortal } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { Provider } from 'urql';
import { Router } from 'wouter';
import { Viewer } from '../generated/operations/console.ts';
import { ReferenceKey } from './frame/reference-key.tsx';
import { Side } from './frame/side.tsx';
import { applyTheme } from './frame/theme.ts';
import { TopBar } from './frame/top-bar.tsx';
import { Toasts } from './parts/toast.tsx';
import { client } from './server/client.ts';
import { useServerQuery } from './server/operations.ts';
import { ViewerContext } from './server/viewer.ts';

const top = document.querySelector('#top');
/** The place in the REST API reference for a key of the session. */
const keyPlace = document.querySelector('#session-key');

function PageFrame() {
  const { data } = useServerQuery(Viewer, {});
  return (
    <ViewerContext value={data?.viewer}>
      <Side />
      {top && createPortal(<TopBar />, top)}
      {keyPlace && data && createPortal(<ReferenceKey viewer={data.viewer} />, keyPlace)}
      <Toasts />
    </ViewerContext>
  );
}

/** Each link of the navigation leads to another page, so the browser loads it. */
const useLocation = (): [string, (to: string) => void] => [
  location.pathname,
  (to) => location.assign(to),
];

applyTheme();
const side = document.querySelector('#side');
if (side) {
  createRoot(side).render(
    <StrictMode>
      <Provider value={client}>
        <Router hook={useLocation}>
          <PageFrame />
        </Router>
      </Provider>
    </StrictMode>,
  );
}
