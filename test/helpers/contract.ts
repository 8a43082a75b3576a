import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { z } from 'zod';
import { frames } from './stream.ts';

const anyObject = z.record(z.string(), z.unknown());
const media = z.object({
  schema: anyObject,
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.object({ value: z.unknown() })).default({}),
});
const response = z.object({
  headers: anyObject,
  content: z.record(z.string(), media).default({}),
});
const operation = z.object({
  operationId: z.string(),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  parameters: z.array(anyObject).default([]),
  requestBody: z.object({ content: z.record(z.string(), media) }).optional(),
  responses: z.record(z.string(), response),
});
const openApi = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({
    headers: z.record(z.string(), z.object({ required: z.boolean().optional() })),
  }),
});

/** Headers that the OpenAPI document must describe: non-standard headers, and headers that require an action. */
const OWN_HEADERS = /^(x-(?!accel-)|idempotency-|retry-)/;

export type DescribedOperation = z.infer<typeof operation> & { method: string; path: string };

/** The OpenAPI document of a running server, as a contract for its responses. */
export type Contract = {
  source: string;
  operations: DescribedOperation[];
  /** Checks a response's status, content type, headers and body. The body must have no undescribed members. */
  hold(operationId: string, answer: Response): Promise<void>;
  /** The errors of a value under the schema at a JSON Pointer into the document. */
  problems(value: unknown, pointer: string): unknown;
  /** The statuses observed for each operation. */
  seen: Set<string>;
};

export async function readContract(url: string): Promise<Contract> {
  const source = await (await fetch(`${url}/v1/openapi.json`)).text();
  const document: unknown = JSON.parse(source);
  const { paths, components } = openApi.parse(document);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, found]) => ({ ...found, method, path })),
  );
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(anyObject.parse(closed(document)), 'contract');
  const seen = new Set<string>();
  const validators = new Map<string, ValidateFunction>();

  const validatorOf = (pointer: string) => {
    const known = validators.get(pointer);
    const validator = known ?? ajv.compile({ $ref: `contract#${encodeURI(pointer)}` });
    validators.set(pointer, validator);
    return validator;
  };

  const problems: Contract['problems'] = (value, pointer) => {
    const validate = validatorOf(pointer);
    return validate(value) ? [] : validate.errors;
  };

  const hold: Contract['hold'] = async (operationId, answer) => {
    const found = operations.find((one) => one.operationId === operationId);
    const described = found?.responses[answer.status];
    const status = `${operationId} ${answer.status}`;
    if (!found || !described) throw new Error(`${status} is not described: ${await answer.text()}`);
    seen.add(status);
    const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
    const types = Object.keys(described.content);
    if (types.length > 0) expect(types, status).toContain(type);
    const required = Object.keys(described.headers).filter(
      (name) => components.headers[name]?.required,
    );
    expect(
      required.filter((name) => !answer.headers.has(name)),
      status,
    ).toEqual([]);
    const names = Object.keys(described.headers).map((name) => name.toLowerCase());
    const nonStandard = [...answer.headers.keys()].filter((name) => OWN_HEADERS.test(name));
    expect(
      nonStandard.filter((name) => !names.includes(name)),
      status,
    ).toEqual([]);
    if (types.length === 0) {
      expect([status, type, await answer.text()]).toEqual([status, '', '']);
      return;
    }
    const place = `${pointerTo(found)}/responses/${answer.status}/content/${escaped(type)}/schema`;
    const body = type === 'text/event-stream' ? await frames(answer) : await answer.json();
    const at = Array.isArray(body) ? `${place}/contentSchema` : place;
    expect({ status, body, problems: problems(body, at) }).toEqual({ status, body, problems: [] });
  };

  return { source, operations, hold, problems, seen };
}

/** The JSON Pointer of an operation in the document. */
export function pointerTo({ method, path }: { method: string; path: string }): string {
  return `/paths/${escaped(path)}/${method}`;
}

/** Escapes a name for a JSON Pointer. Source: RFC 6901. */
export function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The same document with undescribed members forbidden in every object. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([name, value]) => [name, closed(value)]);
  const isOpen = 'properties' in node && 'type' in node && !('additionalProperties' in node);
  return Object.fromEntries([...entries, ...(isOpen ? [['additionalProperties', false]] : [])]);
}
