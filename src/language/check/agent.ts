import { BOUNDS } from '../bounds.ts';
import { DEFAULTS, type Definition, type Fact, type Limits } from '../definition.ts';
import { byteLength } from '../source.ts';
import type { Member } from '../syntax.ts';
import type { Template } from '../template.ts';
import { checkChannels } from './channels.ts';
import { checkOutput } from './fields.ts';
import { checkModel, DEFAULT_MODEL } from './model.ts';
import { checkNames, declaredIn, lacks, settingsOf } from './names.ts';
import { checkTemplate, NO_TEMPLATE, type Scope } from './templates.ts';
import { checkTools } from './tools.ts';
import {
  type Check,
  checkShortText,
  checkText,
  DURATION,
  namesOf,
  numberOf,
  type Range,
  stringsOf,
  textOf,
} from './values.ts';

/** Bytes of a prompt above which there is a warning: 16 KiB. */
const LONG_PROMPT = 16_384;

const HISTORY: Range = { min: 0, max: 500, text: '0 to 500' };
const TOOL_CALLS: Range = { min: 0, max: BOUNDS.toolCalls, text: `0 to ${BOUNDS.toolCalls}` };

/**
 * Checks an agent and reports its mistakes. The returned definition is valid only if there are no errors.
 */
export function checkAgent(agent: Member, check: Check): Definition {
  const settings = settingsOf(agent.block, check);
  const facts = declaredIn(agent.block, 'memory', check);
  checkPresence(agent, check);
  return {
    name: checkName(agent, check),
    description: settings.read('description', (member) => textOf(member, check)),
    model: settings.read('model', (member) => checkModel(member, check)) ?? DEFAULT_MODEL,
    prompt: settings.read('prompt', (member) => checkPrompt(member, facts, check)) ?? NO_TEMPLATE,
    history: settings.read('history', (member) => checkHistory(member, check)) ?? DEFAULTS.history,
    memory: settings.read('memory', (member) => checkFacts(member, check)) ?? [],
    output: settings.read('output', (member) => checkOutput(member, check)),
    channels: checkChannels(settings.all('channel'), check),
    tools: checkTools(settings.all('tools'), facts, check),
    limits: settings.read('limits', (member) => checkLimits(member, check)) ?? DEFAULT_LIMITS,
  };
}

function checkName(agent: Member, check: Check): string {
  const [token] = stringsOf(agent);
  const bound = { max: BOUNDS.agentNameLength, what: "agent's name" };
  return token ? checkShortText(token, bound, check) : '';
}

const DEFAULT_LIMITS: Limits = { toolCalls: DEFAULTS.toolCalls, runTime: DEFAULTS.runTime };

function checkPresence({ block, token }: Member, check: Check): void {
  const { report } = check;
  if (!block) return;
  if (lacks(block, ['prompt'], check)) report('missing-prompt', token, 'the agent has no prompt');
  if (lacks(block, ['description'], check))
    report('missing-description', token, 'the agent has no description');
}

/** "history" ( "none" | "last" INT "messages" ) */
function checkHistory(member: Member, check: Check): number {
  if (namesOf(member).length > 0) return 0;
  return numberOf(member, HISTORY, check) ?? DEFAULTS.history;
}

/** "limits" "{" { "tool_calls" INT | "run_time" DURATION } "}" */
function checkLimits({ block }: Member, check: Check): Limits {
  const settings = settingsOf(block, check);
  const read = (word: string, range: Range) =>
    settings.read(word, (setting) => numberOf(setting, range, check));
  return {
    toolCalls: read('tool_calls', TOOL_CALLS) ?? DEFAULTS.toolCalls,
    runTime: read('run_time', DURATION) ?? DEFAULTS.runTime,
  };
}

function checkPrompt(member: Member, facts: Scope['facts'], check: Check): Template {
  const token = member.arguments.find(({ kind }) => kind === 'string')?.token;
  if (!token || (token.broken && token.kind !== 'triple')) return NO_TEMPLATE;
  const size = byteLength(checkText(token, check));
  if (size > LONG_PROMPT) {
    const message = `the prompt has ${size} bytes, over ${LONG_PROMPT} it costs time and attention`;
    check.report('long-prompt', token, message);
  }
  return checkTemplate(token, { facts, env: false }, check).template;
}

/** "memory" "{" { NAME [ STRING ] } "}" */
function checkFacts({ block }: Member, check: Check): Fact[] {
  const members = block?.members ?? [];
  checkNames(
    members.map(({ token }) => token),
    check,
    { max: { count: BOUNDS.facts, what: 'facts' } },
  );
  return members.map((member) => ({ name: member.word, description: textOf(member, check) }));
}
