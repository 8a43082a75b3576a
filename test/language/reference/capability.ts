import { expect } from 'vitest';
import { changesSomething } from '../../../src/language/effects.ts';
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
  'A call of a capability changes something, unless its request is a `get`.': () => {
    for (const method of ['post', 'put', 'patch', 'delete'])
      expect(changesSomething(capabilityOf(`${method} "https://a.example/"`))).toBe(true);
    const get = capabilityOf('get "https://a.example/"');
    expect(get).toMatchObject({ approval: null, reads: false, repeatable: false });
    expect(changesSomething(get)).toBe(false);
  },
  '`reads` says that the request changes nothing, whatever its method: for example a `post` that only searches.':
    () => {
      const search = capabilityOf('reads post "https://a.example/"');
      expect(search).toMatchObject({ reads: true, repeatable: false });
      expect(changesSomething(search)).toBe(false);
    },
  '`repeatable` says that the service honours the `Idempotency-Key` header: if the outcome of a request is unknown, Parley may send the request again with the same key.':
    () => {
      const pay = capabilityOf('repeatable post "https://a.example/"');
      expect(pay).toMatchObject({ reads: false, repeatable: true });
      expect(changesSomething(pay)).toBe(true);
    },
  '`approval` lets a person decide about each call, as [below](#approval).': () => {
    for (const method of ['get', 'post'])
      expect(capabilityOf(`approval ${method} "https://a.example/"`).approval).toEqual({
        reason: null,
        expiresSeconds: 86_400,
      });
  },
  '`label` is what visitors of the chat page see while a call runs and afterwards; without it they see no call.':
    () => {
      const get = 'get "https://a.example/"';
      expect(capabilityOf(`label "Looked it up" ${get}`)).toMatchObject({ label: 'Looked it up' });
      expect(capabilityOf(get).label).toBeUndefined();
      expect(codesOf(agentWithCapability(`label " " ${get}`))).toEqual(['empty-text']);
      expect(codesOf(agentWithCapability(`label "a" label "b" ${get}`))).toEqual([
        'duplicate-setting',
      ]);
    },
  '`label`, `approval`, `reads` and `repeatable` may also follow the request.': () => {
    const after = agentWithCapability(
      'post "https://a.example/" repeatable approval "s" label "l"',
    );
    expect(codesOf(after)).toEqual([]);
    expect(capabilityOf('post "https://a.example/" reads')).toMatchObject({ reads: true });
    const late = capabilityOf('post "https://a.example/" {}\nrepeatable approval { expires 1m }');
    expect(late).toMatchObject({ repeatable: true, approval: { expiresSeconds: 60 } });
  },
  '`reads` with a `get`, and `repeatable` with a `get` or with `reads`, have no effect and get a warning.':
    () => {
      for (const settings of [
        'reads get "https://a.example/"',
        'get "https://a.example/" repeatable',
        'reads repeatable post "https://a.example/"',
      ])
        expect(codesOf(agentWithCapability(settings))).toEqual(['no-effect']);
      expect(codesOf(agentWithCapability('reads repeatable get "https://a.example/"'))).toEqual([
        'no-effect',
        'no-effect',
      ]);
    },
  'The label of a tool has at most 60 characters.': () => {
    const labelled = (length: number) =>
      agentWithCapability(`label "${'l'.repeat(length)}" get "https://a.example/"`);
    expect(codesOf(labelled(60))).toEqual([]);
    expect(codesOf(labelled(61))).toEqual(['too-long']);
  },
};
