import { contrastOnPage, isColor, MIN_CONTRAST, readableAccent } from '../accent.ts';
import { BOUNDS } from '../bounds.ts';
import { readChatIds } from '../chat-ids.ts';
import { CHANNELS, type Channel, type Greeting, type TelegramChannel } from '../definition.ts';
import { hint, suggest } from '../suggest.ts';
import type { Member } from '../syntax.ts';
import { quote } from '../token.ts';
import { checkCount, checkNames, lacks, type Settings, settingsOf } from './names.ts';
import { type Check, checkShortText, envOf, nameOf, namesOf, stringsOf } from './values.ts';

/** The valid channels of an agent. */
export function checkChannels(members: readonly Member[], check: Check): Channel[] {
  checkNames(members.flatMap(namesOf), check);
  return members.flatMap((member) => checkChannel(member, check) ?? []);
}

function checkChannel(member: Member, check: Check): Channel | undefined {
  const [name] = namesOf(member);
  if (!name) return undefined;
  const type = CHANNELS.find((channel) => channel === name.text);
  if (!type)
    check.report('unknown-channel', name, () => {
      return `unknown channel ${quote(name.text)}${hint(name.text, CHANNELS)}`;
    });
  const settings = settingsOf(member.block, check);
  switch (type ?? suggest(name.text, CHANNELS)) {
    case 'web':
      return {
        type: 'web',
        title: settings.read('title', (member) => checkTitle(member, check)),
        accent: settings.read('accent', (member) => checkAccent(member, check)),
        ...checkGreeting(settings, check),
      };
    case 'telegram':
      return checkTelegram(member, settings, check);
    default:
      return undefined;
  }
}

function checkGreeting(settings: Settings, check: Check): Greeting {
  return {
    welcome: settings.read('welcome', (member) => checkWelcome(member, check)),
    suggestions: settings.read('suggestions', (member) => checkSuggestions(member, check)) ?? [],
  };
}

function checkTitle(member: Member, check: Check): string | undefined {
  const [token] = stringsOf(member);
  return token && checkShortText(token, { max: BOUNDS.titleLength, what: 'title' }, check);
}

/** A colour that is readable on the light page. The accent of the dark page is derived, so that it is readable, too. */
function checkAccent(member: Member, { report }: Check): string | undefined {
  const [token] = stringsOf(member);
  if (!token) return undefined;
  const accent = nameOf(token);
  if (!isColor(accent)) {
    report('invalid-color', token, 'expected a colour of six hexadecimal digits, as "#0b6e5f"');
    return undefined;
  }
  const contrast = contrastOnPage(accent);
  if (contrast >= MIN_CONTRAST) return accent;
  report('low-contrast', token, () => {
    const found = `contrast of ${Math.floor(contrast * 10) / 10}:1 with the light chat page`;
    return `the accent has a ${found}, expected at least ${MIN_CONTRAST}:1, such as "${readableAccent(accent)}"`;
  });
  return undefined;
}

function checkWelcome(member: Member, check: Check): string | undefined {
  const [token] = stringsOf(member);
  return token && checkShortText(token, { max: BOUNDS.welcomeLength, what: 'welcome' }, check);
}

function checkSuggestions(member: Member, check: Check): string[] {
  const tokens = stringsOf(member);
  const bound = { max: BOUNDS.suggestionLength, what: 'suggestion' };
  if (!check.isDeployed)
    checkCount(tokens, { count: BOUNDS.suggestions, what: 'suggestions' }, check);
  return tokens.slice(0, BOUNDS.suggestions).map((token) => checkShortText(token, bound, check));
}

function checkTelegram({ block, token }: Member, settings: Settings, check: Check): Channel {
  const isMissing = block ? lacks(block, ['token'], check) : !check.mayHide('token');
  if (isMissing) {
    const message = 'channel "telegram" has no token, expected "token env.NAME" in its block';
    check.report('missing-token', token, message);
  }
  const secret = settings.read('token', (setting) => envOf(setting, check)) ?? { env: '' };
  const approvers = settings.read('approvers', (setting) => checkApprovers(setting, check));
  return { type: 'telegram', token: secret, approvers, ...checkGreeting(settings, check) };
}

/** "approvers" ( STRING | env_ref ) */
function checkApprovers(member: Member, check: Check): TelegramChannel['approvers'] {
  const [token] = stringsOf(member);
  if (!token) return envOf(member, check);
  const read = readChatIds(nameOf(token));
  if ('chats' in read) return read.chats;
  check.report('invalid-chat', token, read.problem);
  return undefined;
}
