import { SCREENS } from '../../console/screens.ts';
import { type Html, html } from '../html.ts';
import { readConsoleFile } from './files.ts';

/** A page that the server renders, without what surrounds it. */
export type FramedPage = {
  /** Names the heading in the bar. */
  screen: 'rest' | 'graphiql';
  /** The elements of the page's head. */
  head: Html;
  /** The content of the bar beside the title. */
  actions: Html;
  content: Html;
};

/**
 * Puts a page into the console's frame: the navigation, the account and the theme. The console's build makes the frame,
 * and its script fills in the navigation.
 *
 * @returns the whole page.
 * @throws StartupError if the console has not been built.
 */
export function framePage({ screen, head, actions, content }: FramedPage): string {
  const { title } = SCREENS[screen];
  const parts: Record<string, Html> = { title: html`${title}`, actions, content };
  // Relative, as all addresses of files in these pages, because a proxy may serve Parley below a path.
  const frame = readConsoleFile('page.html').replaceAll('"/assets/', '"assets/');
  const [start = '', end = ''] = frame.split('</head>');
  // After the frame's style sheets, which give the order of the layers.
  const whole = html`<title>${title} · Parley</title>\n${head}\n</head>`;
  return `${start}${whole.html}${end.replaceAll(/{{(\w+)}}/g, (_place, name) => parts[name]?.html ?? '')}`;
}
