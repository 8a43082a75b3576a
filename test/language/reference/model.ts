import { expect } from 'vitest';
import {
  agentWith,
  agentWithCapability,
  codesOf,
  define,
  inModel,
  many,
  problemsOf,
} from '../helpers.ts';
import type { Sentences } from './sentences.ts';

export const MODEL: Sentences = {
  "Without `model`, the operator's default model is used.": () => {
    expect(define(agentWith('')).model).toEqual({ timeout: 60_000 });
  },
  '`temperature` is 0 to 2, and `max_tokens` is 1 to 1000000.': () => {
    const { model } = define(inModel('temperature 2 max_tokens 1000000'));
    expect(model).toMatchObject({ name: 'm', temperature: 2, maxTokens: 1_000_000 });
    expect(define(inModel('temperature 0 max_tokens 1')).model.temperature).toBe(0);
    for (const text of ['temperature 2.01', 'max_tokens 0', 'max_tokens 1000001'])
      expect(codesOf(inModel(text))).toEqual(['out-of-range']);
  },
  '`timeout` is 1ms to 15m; the default of a model is 60s.': () => {
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
};
