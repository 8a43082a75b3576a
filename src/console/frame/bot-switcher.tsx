import { type KeyboardEvent, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Icon } from '../parts/icon.tsx';
import { Popover } from '../parts/popover.tsx';
import { addressOf, ROWS, screenAt } from '../screen-addresses.ts';
import { SCREENS } from '../screens.ts';
import { matches, useBotName, useBotNames } from '../server/bot-names.ts';
import { useNewBotRefusal } from '../server/viewer.ts';
import './bot-switcher.css';
import { environmentQuery, useLinkedEnvironment } from './environments.ts';

/** Bots that the list shows. A search finds the others. */
const SHOWN = 12;

/** Names the open bot, and opens the same screen of another one. */
export function BotSwitcher({ botId }: { botId: string }) {
  const name = useBotName(botId);
  return (
    <Popover
      label="Choose a bot"
      className="bot-switcher"
      button={
        <>
          <span className="unseen">Bot </span>
          <span className="cut">{name}</span>
          <Icon name="chevron" size={13} />
        </>
      }
    >
      {(close) => <BotChoices botId={botId} onChosen={close} />}
    </Popover>
  );
}

function BotChoices({ botId, onChosen }: { botId: string; onChosen(): void }) {
  const [search, setSearch] = useState('');
  const addressFor = useSameScreen();
  const { bots, problem } = useBotNames(search);
  const refusal = useNewBotRefusal();
  const found = bots?.filter((bot) => matches(bot, search)) ?? [];
  return (
    <nav className="bot-choices" aria-label="Bots" onKeyDown={moveFocus}>
      <input
        type="search"
        className="input"
        aria-label="Find a bot"
        placeholder="Find a bot"
        autoComplete="off"
        spellCheck={false}
        value={search}
        onChange={({ target }) => setSearch(target.value)}
      />
      <p className="bot-choices-note" role="status">
        {problem?.message ?? (bots && found.length === 0 && 'No bot has this name or id.')}
      </p>
      <ul>
        {found.slice(0, SHOWN).map(({ id, name }) => (
          <li key={id}>
            <Link
              href={addressFor(id)}
              className="menu-item"
              aria-current={id === botId ? 'page' : undefined}
              onClick={onChosen}
            >
              <span className="cut">{name}</span>
              <span className="mono faint cut">{id}</span>
            </Link>
          </li>
        ))}
      </ul>
      {found.length > SHOWN && (
        <p className="bot-choices-note">
          {(found.length - SHOWN).toLocaleString('en')} more. Type a part of the name.
        </p>
      )}
      <hr />
      <Link href={SCREENS.bots.path} className="menu-item" onClick={onChosen}>
        All bots
      </Link>
      {!refusal && (
        <Link href={SCREENS.newBot.path} className="menu-item" onClick={onChosen}>
          New bot…
        </Link>
      )}
    </nav>
  );
}

/** The address of the open screen for another bot: of its list, if the screen shows an entry of one. */
function useSameScreen(): (botId: string) => string {
  const [location] = useLocation();
  const environment = useLinkedEnvironment();
  const screen = screenAt(location);
  const row = ROWS.find(
    ({ name, navigation }) =>
      navigation === 'bot' && (name === screen?.name || name === screen?.parent),
  );
  return (botId) => addressOf((row ?? SCREENS.home).path, botId) + environmentQuery(environment);
}

/** The arrow keys move between the field and the links below it. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>('input, a')];
  const focused = document.activeElement;
  const at = focused instanceof HTMLElement ? stops.indexOf(focused) : -1;
  stops.at((at + step) % stops.length)?.focus();
  event.preventDefault();
}
