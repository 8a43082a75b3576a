import { expect } from 'vitest';
import { lookupIn, renderTemplate, renderUrl } from '../../../src/language/template.ts';
import {
  agentWith,
  agentWithCapability,
  agentWithPrompt,
  capabilityOf,
  codesOf,
  define,
  inModel,
} from '../helpers.ts';
import type { Sentences } from './sentences.ts';

const CONTEXT = { context: { plan: 'pro', items: ['a', { b: 1 }], none: null }, now: '2026' };

const render = (prompt: string) =>
  renderTemplate(define(agentWithPrompt(prompt)).prompt, lookupIn(CONTEXT));

export const TEMPLATES: Sentences = {
  'In a prompt, a request\'s URL and a header, `{{ path }}` inserts a value, and `{{ path ?? "default" }}` a default if there is no value.':
    () => {
      const { url, headers } = capabilityOf(
        'get "https://a.example/{{ now }}" { header "A" "{{ context.a ?? "b" }}" }',
      ).request;
      expect(url).toEqual(['https://a.example/', { path: ['now'] }]);
      expect(headers).toEqual([{ name: 'A', value: [{ path: ['context', 'a'], default: 'b' }] }]);
      expect(render('"{{ context.plan ?? "free" }} {{context.x??"free"}}"').text).toBe('pro free');
    },
  'Everywhere else two braces are text, except in the URLs of servers, where a template is an error.':
    () => {
      const source = agentWith('  model "{{ x }}"\n  channel web { welcome "{{" }');
      expect(define(source)).toMatchObject({
        model: { name: '{{ x }}' },
        channels: [{ welcome: '{{' }],
      });
      expect(codesOf(agentWith('  tools g mcp "https://{{ env.A }}/"'))).toEqual(['invalid-url']);
      expect(codesOf(inModel('base_url "https://a.example/{{ env.A }}"'))).toEqual(['invalid-url']);
    },
  'The quotes of a default may be written `\\"` or plain, also in a string on one line.': () => {
    for (const quote of ['"', '\\"'])
      for (const around of ['"', '"""']) {
        const prompt = `${around}{{ context.a ?? ${quote}b${quote} }}${around}`;
        expect(define(agentWithPrompt(prompt)).prompt).toEqual([
          { path: ['context', 'a'], default: 'b' },
        ]);
      }
  },
  "`context` is the caller's object, with any path into it.": () => {
    const { text } = render('"{{ context.items.1.b }} {{ context.plan }} {{ context }}"');
    expect(text).toBe(`1 pro ${JSON.stringify(CONTEXT.context)}`);
  },
  '`memory` is followed by the name of a declared fact.': () => {
    const memory = '  memory { name }';
    expect(codesOf(agentWithPrompt('"{{ memory.name }}"', memory))).toEqual([]);
    expect(codesOf(agentWithPrompt('"{{ memory.city }}"', memory))).toEqual(['unknown-fact']);
    expect(codesOf(agentWithPrompt('"{{ memory.name }}"'))).toEqual(['unknown-fact']);
    expect(codesOf(agentWithPrompt('"{{ memory }}"', memory))).toEqual(['invalid-template']);
  },
  '`input` is followed by the name of a declared input, and is allowed in a capability only.':
    () => {
      const get = (name: string) =>
        agentWithCapability(`input { a string "x" }\n get "https://a.example/{{ ${name} }}"`);
      expect(codesOf(get('input.a'))).toEqual([]);
      expect(codesOf(get('input.b'))).toEqual(['unknown-input']);
      expect(codesOf(get('input'))).toEqual(['invalid-template']);
      expect(codesOf(agentWithPrompt('"{{ input.a }}"'))).toEqual(['unknown-root']);
      expect(codesOf(agentWith('  tools g mcp env.U { header "A" "{{ input.a }}" }'))).toEqual([
        'unknown-root',
      ]);
    },
  '`session.id` is the id of the session, and `now` the time; neither has further parts.': () => {
    expect(codesOf(agentWithPrompt('"{{ session.id }} {{ now }}"'))).toEqual([]);
    for (const path of ['session', 'session.id.x', 'session.user', 'now.year'])
      expect(codesOf(agentWithPrompt(`"{{ ${path} }}"`))).toEqual(['invalid-template']);
  },
  '`env` is followed by the name of a variable, and is not allowed in a prompt.': () => {
    const header = (path: string) =>
      agentWith(`  tools g mcp env.U { header "A" "{{ ${path} }}" }`);
    expect(codesOf(header('env.KEY'))).toEqual([]);
    for (const path of ['env', 'env.KEY.x', 'env.1'])
      expect(codesOf(header(path))).toEqual(['invalid-template']);
    expect(codesOf(agentWithPrompt('"{{ env.KEY }}"'))).toEqual(['env-in-prompt']);
    expect(codesOf(agentWithPrompt('"""{{ env }}"""'))).toEqual(['env-in-prompt']);
  },
  'Before the path of a URL only `env` is allowed, so that neither the caller nor the model chooses the server.':
    () => {
      const get = (url: string) => agentWithCapability(`input { a string "x" }\n get "${url}"`);
      expect(codesOf(get('https://{{ env.HOST }}:{{ env.PORT }}/{{ input.a }}'))).toEqual([]);
      for (const url of [
        'https://{{ input.a }}',
        'https://a.{{ context.tld }}/x',
        'https://a.example:{{ now }}/',
      ])
        expect(codesOf(get(url))).toEqual(['invalid-url']);
    },
  "A text has at most 1000 templates, and a template's path has at most 256 characters.": () => {
    const prompt = (count: number) => agentWithPrompt(`"${'{{now}}'.repeat(count)}"`);
    expect(codesOf(prompt(1_000))).toEqual([]);
    expect(codesOf(prompt(1_001))).toEqual(['too-many-references']);
    const path = (length: number) => agentWithPrompt(`"{{ ${'context'.padEnd(length, '.a')} }}"`);
    expect(codesOf(path(255))).toEqual([]);
    expect(codesOf(path(257))).toEqual(['invalid-template']);
  },
  'A missing value becomes empty text, and its path is listed as missing.': () => {
    expect(render('"[{{ context.x }}{{ context.none }}{{ context.x }}{{ session.id }}]"')).toEqual({
      text: '[]',
      missing: ['context.x', 'context.none', 'session.id'],
    });
  },
  'Objects and lists are written as JSON.': () => {
    expect(render('"{{ context.items }}"').text).toBe('["a",{"b":1}]');
  },
  'A value in a URL is percent-encoded, and the values `.` and `..` count as missing there.':
    () => {
      const { url } = capabilityOf(
        'get "https://a.example/{{ context.a }}/x?y={{ context.b }}"',
      ).request;
      const lookup = (a: string, b: string) => lookupIn({ context: { a, b } });
      expect(renderUrl(url, lookup('a/b?', 'c&d=é'))).toEqual({
        text: 'https://a.example/a%2Fb%3F/x?y=c%26d%3D%C3%A9',
        missing: [],
      });
      expect(renderUrl(url, lookup('..', '.'))).toEqual({
        text: 'https://a.example//x?y=',
        missing: ['context.a', 'context.b'],
      });
    },
  'A URL whose host is missing becomes empty text.': () => {
    const { url } = capabilityOf('get "https://{{ env.HOST }}/{{ context.a }}"').request;
    const lookup = lookupIn({ env: {}, context: { a: 'b.example' } });
    expect(renderUrl(url, lookup)).toEqual({ text: '', missing: ['env.HOST'] });
  },
  'A rendered text has at most 1048576 characters, and a rendered URL has at most 16384; a longer one is an error.':
    () => {
      const lookup = (length: number) => lookupIn({ context: { a: 'a'.repeat(length) } });
      const { prompt } = define(agentWithPrompt('"{{ context.a }}{{ context.a }}"'));
      expect(renderTemplate(prompt, lookup(524_288)).text).toHaveLength(1_048_576);
      expect(() => renderTemplate(prompt, lookup(524_289))).toThrow(
        /longer than 1048576 characters/,
      );
      const { url } = capabilityOf('get "https://a.b/{{ context.a }}"').request;
      expect(renderUrl(url, lookup(16_372)).text).toHaveLength(16_384);
      expect(() => renderUrl(url, lookup(16_373))).toThrow(/longer than 16384 characters/);
    },
};
