import { createRoot } from 'react-dom/client';
import '../design/tokens.css';
// Without the console's font, which alone would weigh as much as the page: visitors read the system's.
import '../design/base.css';
import { noteAway } from '../server/connection.ts';
import { ChatPage } from './chat-page.tsx';
import { embedding } from './embedding.ts';
import { page } from './page.ts';
import { createVisit } from './visit.ts';

// The browser knows of a lost network before a request fails.
addEventListener('offline', noteAway);

const root = document.getElementById('root');
if (!root) throw new Error('The page has no root element.');
if (embedding.theme) document.documentElement.dataset.theme = embedding.theme;
createRoot(root).render(<ChatPage page={page} visit={createVisit(page.bot, embedding)} />);
embedding.send({ type: 'ready', accent: page.accent });
