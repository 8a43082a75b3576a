import { BOUNDS } from '../bounds.ts';
import { CHANNELS, type Channel } from '../definition.ts';
import { hint } from '../suggest.ts';
import type { Member } from '../syntax.ts';
import { quote } from '../token.ts';
import { checkCount, checkNames, settingsOf } from './names.ts';
import { type Check, checkText, envOf, namesOf, stringsOf, textOf } from './values.ts';

type Settings = ReturnType<typeof settingsOf>;

/** The valid channels of an agent. */
export function checkChannels(members: readonly Member[], check: Check): Channel[] {
  checkNames(members.flatMap(namesOf), check);
  return members.flatMap((member) => checkChannel(member, check) ?? []);
}

function checkChannel(member: Member, check: Check): Channel | undefined {
  const [name] = namesOf(member);
  if (!name) return undefined;
  const settings = settingsOf(member.block, check);
  switch (name.text) {
    case 'web':
      rejectSettings(['token'], 'telegram', settings, check);
      return {
        type: 'web',
        welcome: textOf(settings.get('welcome'), check),
        suggestions: checkSuggestions(settings.get('suggestions'), check),
      };
    case 'telegram':
      rejectSettings(['welcome', 'suggestions'], 'web', settings, check);
      return checkTelegram(member, settings, check);
    default: {
      const message = () => `unknown channel ${quote(name.text)}${hint(name.text, CHANNELS)}`;
      check.report('unknown-channel', name, message);
      return undefined;
    }
  }
}

function checkSuggestions(member: Member | undefined, check: Check): string[] {
  const tokens = stringsOf(member);
  checkCount(tokens, { count: BOUNDS.suggestions, what: 'suggestions' }, check);
  return tokens.map((token) => checkText(token, check));
}

function checkTelegram(member: Member, settings: Settings, check: Check): Channel {
  const setting = settings.get('token');
  if (!setting && !member.block?.damaged) {
    const message = 'channel "telegram" has no token, expected "token env.NAME" in its block';
    check.report('missing-token', member.token, message);
  }
  return { type: 'telegram', token: envOf(setting, check) ?? { env: '' } };
}

/** Reports settings of the other channel. */
function rejectSettings(words: string[], home: string, settings: Settings, check: Check): void {
  for (const word of words) {
    const setting = settings.get(word);
    if (!setting) continue;
    const message = `unknown setting "${word}", it belongs in channel "${home}"`;
    check.report('unknown-setting', setting.token, message);
  }
}
