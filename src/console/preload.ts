/** The page's first script. It starts requests while the browser still loads and compiles the other scripts. */
import { preloadScreen } from './screen-code.ts';
import './server/first-request.ts';

preloadScreen(location.pathname);
