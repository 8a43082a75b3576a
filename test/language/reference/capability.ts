import { expect } from 'vitest';
import { agentWithCapability, capabilityOf, codesOf } from '../helpers.ts';
import type { Sentences } from './sentences.ts';

export const CAPABILITY: Sentences = {
  'A capability has a name and a description, an `input` if it takes any, and then one request.':
    () => {
      const get = 'get "https://a.example/"';
      expect(capabilityOf(get)).toMatchObject({ name: 'c', description: 'd', input: [] });
      expect(codesOf(agentWithCapability(''))).toEqual(['missing-request']);
      expect(codesOf(agentWithCapability(`${get} put "https://a.example/"`))).toEqual([
        'duplicate-setting',
      ]);
      expect(codesOf(agentWithCapability(`${get} input { a string "x" }`))).toEqual([
        'wrong-order',
      ]);
    },
  'If no input of a capability has a description, there is a warning.': () => {
    const withInput = (fields: string) =>
      agentWithCapability(`input { ${fields} }\n      get "https://a.example/"`);
    expect(codesOf(withInput('a string b string'))).toEqual(['undescribed-input']);
    expect(codesOf(withInput('a string b string "x"'))).toEqual([]);
    expect(codesOf(withInput(''))).toEqual([]);
  },
};
