import { expect } from 'vitest';
import { outputInstructions, readOutput } from '../../../src/agent/output.ts';
import { schemaOfFields } from '../../../src/agent/tools/input.ts';
import {
  agentWith,
  agentWithCapability,
  agentWithPrompt,
  codesOf,
  define,
  inModel,
  many,
  problemsOf,
} from '../helpers.ts';
import type { Sentences } from './sentences.ts';

const inLimits = (text: string) => agentWith(`  limits {\n${text}\n  }`);

export const AGENT: Sentences = {
  'The name of the agent has at most 200 characters.': () => {
    const named = (name: string) => agentWith('').replace(/agent ".*?"/, `agent "${name}"`);
    expect(define(named('n'.repeat(200))).name).toHaveLength(200);
    expect(codesOf(named('n'.repeat(201)))).toEqual(['too-long']);
  },
  '`description` says what the agent is for; without it there is a warning.': () => {
    expect(define(agentWith('')).description).toBe('d');
    expect(codesOf('agentlang 5 agent "A" { prompt "p" }')).toEqual(['missing-description']);
  },
  '`prompt` is a string or a text in three quotes, and may hold templates; over 16 KiB there is a warning.':
    () => {
      expect(define(agentWithPrompt('"a {{ now }}"')).prompt).toEqual(['a ', { path: ['now'] }]);
      expect(define(agentWithPrompt('"""a {{ now }}"""')).prompt).toEqual([
        'a ',
        { path: ['now'] },
      ]);
      expect(codesOf(agentWithPrompt(`"${'é'.repeat(8_192)}"`))).toEqual([]);
      expect(codesOf(agentWithPrompt(`"${'é'.repeat(8_192)}!"`))).toEqual(['long-prompt']);
    },
  '`history last 20 messages` sets how many messages are sent to the model: 0 to 500; the default is 40.':
    () => {
      expect(define(agentWith('  history last 20 messages')).history).toBe(20);
      expect(define(agentWith('  history last 500 messages')).history).toBe(500);
      expect(codesOf(agentWith('  history last 501 messages'))).toEqual(['out-of-range']);
      expect(define(agentWith('')).history).toBe(40);
    },
  '`history none` is the same as `history last 0 messages`.': () => {
    expect(define(agentWith('  history none'))).toEqual(
      define(agentWith('  history last 0 messages')),
    );
    expect(define(agentWith('  history none')).history).toBe(0);
  },
  '`memory` declares the facts that the agent may keep about a user, each with a name and an optional description.':
    () => {
      expect(define(agentWith('  memory {\n name "Who"\n city\n }')).memory).toEqual([
        { name: 'name', description: 'Who' },
        { name: 'city', description: undefined },
      ]);
      expect(define(agentWith('')).memory).toEqual([]);
    },
  'An agent has at most 64 facts.': () => {
    const facts = (count: number) =>
      agentWith(`  memory { ${many(count, (index) => `f${index}`)} }`);
    expect(define(facts(64)).memory).toHaveLength(64);
    expect(codesOf(facts(65))).toEqual(['too-many']);
  },
  "Without `model`, the operator's default model is used.": () => {
    expect(define(agentWith('')).model).toEqual({ timeout: 60_000 });
  },
  'In its block `temperature` is 0 to 2, and `max_tokens` 1 to 1000000.': () => {
    const { model } = define(inModel('temperature 2 max_tokens 1000000'));
    expect(model).toMatchObject({ name: 'm', temperature: 2, maxTokens: 1_000_000 });
    expect(define(inModel('temperature 0 max_tokens 1')).model.temperature).toBe(0);
    for (const text of ['temperature 2.01', 'max_tokens 0', 'max_tokens 1000001'])
      expect(codesOf(inModel(text))).toEqual(['out-of-range']);
  },
  'Every `timeout` is 1ms to 15m; the default of a model is 60s.': () => {
    const inRequest = (text: string) =>
      agentWithCapability(`      get "https://a.example/" { timeout ${text} }`);
    for (const surround of [inRequest, (text: string) => inModel(`timeout ${text}`)]) {
      for (const text of ['1ms', '15m', '900s']) expect(codesOf(surround(text))).toEqual([]);
      for (const text of ['0s', '900001ms', '16m'])
        expect(codesOf(surround(text))).toEqual(['out-of-range']);
    }
    expect(define(inModel('')).model.timeout).toBe(60_000);
  },
  "`reasoning` is `none`, `minimal`, `low`, `medium` or `high`; without it the model's own default applies.":
    () => {
      for (const effort of ['none', 'minimal', 'low', 'medium', 'high'])
        expect(define(inModel(`reasoning ${effort}`)).model.reasoning).toBe(effort);
      expect(define(inModel('')).model.reasoning).toBeUndefined();
      expect(codesOf(inModel('reasoning max'))).toEqual(['syntax']);
    },
  "`parameter` adds a member to the model's request: its name in quotes, and a number, `true`, `false` or a string as its value.":
    () => {
      expect(
        define(inModel('parameter "top_p" 0.9 parameter "a" true parameter "b" false')).model
          .parameters,
      ).toEqual({ top_p: 0.9, a: true, b: false });
      expect(define(inModel('parameter "service_tier" "flex"')).model.parameters).toEqual({
        service_tier: 'flex',
      });
      expect(define(inModel('')).model.parameters).toBeUndefined();
      expect(codesOf(inModel('parameter "top_p" high'))).toEqual(['syntax']);
      expect(codesOf(inModel('parameter top_p 0.9'))).toEqual(['syntax']);
    },
  'A string that is valid JSON is sent as that JSON, any other string as text; text that begins with `{` or `[` must be JSON of at most 32 levels.':
    () => {
      const parsed = (text: string) =>
        define(inModel(`parameter "x" ${JSON.stringify(text)}`)).model.parameters?.x;
      expect(parsed('{"enable_thinking": false}')).toEqual({ enable_thinking: false });
      expect(parsed('-0.5')).toBe(-0.5);
      expect(parsed('"5"')).toBe('5');
      expect(parsed('null')).toBeNull();
      expect(parsed('not JSON')).toBe('not JSON');
      expect(parsed('')).toBe('');
      const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
      expect(codesOf(inModel(`parameter "x" "${lists(32)}"`))).toEqual([]);
      for (const text of [lists(33), '[1', "{'a': 1}"])
        expect(codesOf(inModel(`parameter "x" "${text}"`))).toEqual(['invalid-parameter']);
    },
  'A model has at most 16 parameters, each once, and none that Parley sets itself, such as `messages` or `temperature`.':
    () => {
      const parameters = (count: number) =>
        inModel(many(count, (index) => `parameter "p${index}" ${index}`, '\n'));
      expect(Object.keys(define(parameters(16)).model.parameters ?? {})).toHaveLength(16);
      expect(codesOf(parameters(17))).toEqual(['too-many']);
      expect(codesOf(inModel('parameter "a" 1 parameter "a" 2'))).toEqual(['duplicate-name']);
      for (const name of ['messages', 'temperature', 'max_completion_tokens', 'stream', 'n'])
        expect(codesOf(inModel(`parameter "${name}" 1`))).toEqual(['invalid-parameter']);
      expect(codesOf(inModel('parameter "" 1'))).toEqual(['empty-text']);
      expect(codesOf(inModel(`parameter "${'a'.repeat(129)}" 1`))).toEqual(['invalid-name']);
    },
  '`fallback` names 1 to 3 other models of the same server, separated by commas, for calls that fail.':
    () => {
      expect(define(inModel('fallback "a", "b/c", "d"')).model.fallback).toEqual(['a', 'b/c', 'd']);
      expect(codesOf(inModel('fallback "a", "b", "c", "d"'))).toEqual(['too-many']);
      expect(codesOf(inModel('fallback "a", "a"'))).toEqual(['duplicate-name']);
      expect(codesOf(inModel('fallback'))).toEqual(['syntax']);
    },
  '`base_url` is a URL in quotes or `env.NAME`, and `api_key` is `env.NAME`.': () => {
    expect(define(inModel('base_url "https://a.example/v1" api_key env.KEY')).model).toMatchObject({
      baseUrl: 'https://a.example/v1',
      apiKey: { env: 'KEY' },
    });
    expect(define(inModel('base_url env.URL')).model.baseUrl).toEqual({ env: 'URL' });
    expect(codesOf(inModel('base_url "a.example/v1"'))).toEqual(['invalid-url']);
    expect(codesOf(inModel('api_key "the key"'))).toEqual(['syntax']);
  },
  "A model of OpenAI whose end is announced gets a warning with the date and the successor, unless `base_url` is the URL of another provider's server.":
    () => {
      expect(problemsOf(agentWith('  model "gpt-4o-mini"'))).toEqual([
        '5:9 the provider ends this model on 2027-01-14, its successor is "gpt-6-luna" [model-retired]',
      ]);
      const retired = (name: string, settings = '') =>
        codesOf(agentWith(`  model "${name}" {\n${settings}\n}`));
      for (const name of ['gpt-4o-mini-2024-07-18', 'openai/gpt-4o-mini', 'gpt-4-0613', 'gpt-5.1'])
        expect(retired(name)).toEqual(['model-retired']);
      for (const name of ['gpt-6-luna', 'gpt-4o-mini-tts', 'my/gpt-4o-mini'])
        expect(retired(name)).toEqual([]);
      expect(retired('gpt-6-luna', 'fallback "gpt-4o-mini"')).toEqual(['model-retired']);
      expect(retired('gpt-4o-mini', 'base_url "https://models.example/v1"')).toEqual([]);
      for (const address of [
        '"https://api.openai.com/v1"',
        '"https://a.openai.azure.com"',
        'env.URL',
      ])
        expect(retired('gpt-4o-mini', `base_url ${address}`)).toEqual(['model-retired']);
    },
  '`output` declares the fields of a structured reply, written as the inputs of a capability.':
    () => {
      const source = agentWith('  output {\n city string "Where"\n size "s" | "m"?\n }');
      expect(define(source).output).toEqual([
        {
          name: 'city',
          type: { kind: 'string', list: false },
          optional: false,
          description: 'Where',
        },
        { name: 'size', type: { kind: 'choice', choices: ['s', 'm'] }, optional: true },
      ]);
      expect(define(agentWith('')).output).toBeUndefined();
      expect(codesOf(agentWith('  output { city }'))).toEqual(['syntax']);
      expect(codesOf(agentWith('  output { a string a string }'))).toEqual(['duplicate-name']);
      expect(codesOf(agentWith('  output { a string }'))).toEqual([]);
    },
  'An output has at most 64 fields.': () => {
    const output = (count: number) =>
      agentWith(`  output { ${many(count, (index) => `f${index} string`, '\n')} }`);
    expect(define(output(64)).output).toHaveLength(64);
    expect(codesOf(output(65))).toEqual(['too-many']);
  },
  'With `output`, the reply is a JSON object of these fields: the model is asked for it, the object is checked, and one wrong answer may be repaired.':
    () => {
      const fields = define(agentWith('  output { city string }')).output ?? [];
      const schema = schemaOfFields(fields);
      expect(outputInstructions(schema)).toContain(JSON.stringify(schema));
      expect(readOutput(schema, '{"city": "Oslo"}')).toMatchObject({ output: { city: 'Oslo' } });
      expect(readOutput(schema, '{"city": 5}')).toEqual({ problem: 'city: must be a string' });
    },
  'In `limits`, `tool_calls` is 0 to 64 for one run; the default is 8.': () => {
    expect(define(inLimits('tool_calls 0')).limits.toolCalls).toBe(0);
    expect(define(inLimits('tool_calls 64')).limits.toolCalls).toBe(64);
    expect(codesOf(inLimits('tool_calls 65'))).toEqual(['out-of-range']);
    expect(define(agentWith('')).limits.toolCalls).toBe(8);
  },
  '`run_time` is 1ms to 15m for one run; the default is 120s.': () => {
    expect(define(inLimits('run_time 1ms')).limits.runTime).toBe(1);
    expect(define(inLimits('run_time 15m')).limits.runTime).toBe(900_000);
    expect(codesOf(inLimits('run_time 901s'))).toEqual(['out-of-range']);
    expect(codesOf(inLimits('run_time 0s'))).toEqual(['out-of-range']);
    expect(define(agentWith('')).limits.runTime).toBe(120_000);
  },
};
