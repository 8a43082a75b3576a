import { BOUNDS } from '../bounds.ts';
import { DEFAULTS, type Definition, type Fact, type ModelSettings } from '../definition.ts';
import { byteLength } from '../source.ts';
import type { Member } from '../syntax.ts';
import type { Template } from '../template.ts';
import { checkChannels } from './channels.ts';
import { checkNames, settingsOf } from './names.ts';
import { checkTemplate, NO_TEMPLATE, type Scope } from './templates.ts';
import { checkTools } from './tools.ts';
import { addressOf } from './urls.ts';
import {
  type Check,
  checkText,
  DURATION,
  envOf,
  isWhole,
  namesOf,
  numberOf,
  type Range,
  stringsOf,
  textOf,
} from './values.ts';

/** Bytes of a prompt above which there is a warning: 16 KiB. */
const LONG_PROMPT = 16_384;

const HISTORY: Range = { min: 0, max: 500, text: '0 to 500' };
const TEMPERATURE: Range = { min: 0, max: 2, text: '0 to 2' };
const MAX_TOKENS: Range = { min: 1, max: 1_000_000, text: '1 to 1000000' };
const TOOL_CALLS: Range = { min: 0, max: 64, text: '0 to 64' };

/**
 * Checks an agent and reports its mistakes. The returned definition is valid only if there are no errors.
 */
export function checkAgent(agent: Member, check: Check): Definition {
  const settings = settingsOf(agent.block, check);
  const limits = settingsOf(settings.get('limits')?.block, check);
  const [memory, ...more] = settings.all('memory');
  const facts = checkFacts(memory, check);
  const isReadable = isWhole(memory ?? agent) && more.length === 0;
  const names = isReadable ? new Set(facts.map(({ name }) => name)) : 'unknown';
  checkPresence(agent, check);
  return {
    name: textOf(agent, check) ?? '',
    description: textOf(settings.get('description'), check),
    model: checkModel(settings.get('model'), check),
    prompt: checkPrompt(settings.get('prompt'), names, check),
    history: checkHistory(settings.get('history'), check),
    memory: facts,
    channels: checkChannels(settings.all('channel'), check),
    tools: checkTools(settings.all('tools'), names, check),
    limits: {
      toolCalls: numberOf(limits.get('tool_calls'), TOOL_CALLS, check) ?? DEFAULTS.toolCalls,
      runTime: numberOf(limits.get('run_time'), DURATION, check) ?? DEFAULTS.runTime,
    },
  };
}

function checkPresence({ block, token }: Member, { report }: Check): void {
  if (!block || block.damaged) return;
  const isThere = (word: string) => block.members.some((member) => member.word === word);
  if (!isThere('prompt')) report('missing-prompt', token, 'the agent has no prompt');
  if (!isThere('description')) report('missing-description', token, 'the agent has no description');
}

/** "history" ( "none" | "last" INT "messages" ) */
function checkHistory(member: Member | undefined, check: Check): number {
  if (namesOf(member).length > 0) return 0;
  return numberOf(member, HISTORY, check) ?? DEFAULTS.history;
}

function checkModel(member: Member | undefined, check: Check): ModelSettings {
  const settings = settingsOf(member?.block, check);
  return {
    name: textOf(member, check),
    temperature: numberOf(settings.get('temperature'), TEMPERATURE, check),
    maxTokens: numberOf(settings.get('max_tokens'), MAX_TOKENS, check),
    timeout: numberOf(settings.get('timeout'), DURATION, check) ?? DEFAULTS.modelTimeout,
    baseUrl: addressOf(settings.get('base_url'), check),
    apiKey: envOf(settings.get('api_key'), check),
  };
}

function checkPrompt(member: Member | undefined, facts: Scope['facts'], check: Check): Template {
  const [token] = stringsOf(member);
  if (!token) return NO_TEMPLATE;
  const size = byteLength(checkText(token, check));
  if (size > LONG_PROMPT) {
    const message = `the prompt has ${size} bytes, over ${LONG_PROMPT} it costs time and attention`;
    check.report('long-prompt', token, message);
  }
  return checkTemplate(token, { facts, env: false }, check).template;
}

/** "memory" "{" { NAME [ STRING ] } "}" */
function checkFacts(memory: Member | undefined, check: Check): Fact[] {
  const members = memory?.block?.members ?? [];
  checkNames(
    members.map(({ token }) => token),
    check,
    { max: { count: BOUNDS.facts, what: 'facts' } },
  );
  return members.map((member) => ({ name: member.word, description: textOf(member, check) }));
}
