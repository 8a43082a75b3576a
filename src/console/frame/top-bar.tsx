import { Link, useLocation } from 'wouter';
import { addressOf, ROWS, screenAt } from '../screen-addresses.ts';
import { useOptionalViewer } from '../server/viewer.ts';
import { BotSwitcher } from './bot-switcher.tsx';
import { EnvironmentSwitch } from './environment-switch.tsx';
import { environmentQuery, useLinkedEnvironment } from './environments.ts';
import { OpenPalette } from './palette/open-palette.tsx';
import { useShownBot } from './shown-bot.ts';
import './top-bar.css';

/** Where the screen is: the account, the bot, the screen; with the environment of all screens, and the way to any other. */
export function TopBar() {
  const viewer = useOptionalViewer();
  const [location] = useLocation();
  const botId = useShownBot();
  const environment = useLinkedEnvironment();
  const screen = screenAt(location);
  const parent = ROWS.find(({ name }) => name === screen?.parent);
  return (
    <header className="top-bar">
      <nav className="crumbs" aria-label="Breadcrumb">
        <ol>
          {viewer && (
            <li className="crumb-account">
              <Link href="/bots" className="cut">
                {viewer.account.name}
              </Link>
            </li>
          )}
          {viewer && botId && (
            <li className="crumb-bot">
              <BotSwitcher key={botId} botId={botId} />
            </li>
          )}
          {parent && (
            <li>
              <Link
                href={addressOf(parent.path, botId) + (botId ? environmentQuery(environment) : '')}
              >
                {parent.title}
              </Link>
            </li>
          )}
          {screen && (
            <li className="crumb-screen">
              <span aria-current="page">{screen.title}</span>
            </li>
          )}
        </ol>
      </nav>
      <EnvironmentSwitch />
      {viewer && <OpenPalette />}
    </header>
  );
}
