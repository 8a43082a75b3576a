import { getOperationAST, Kind, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { PERSISTED } from '../../src/generated/operations/persisted.ts';
import { isRead } from '../../src/schema/admission/reads.ts';
import { schema } from '../../src/schema/index.ts';

/** The subscriptions that begin a run. */
const BEGIN = ['chat', 'execute'];

describe('a read of the console', () => {
  test.each(Object.keys(schema.getSubscriptionType()?.getFields() ?? {}))(
    'may be the subscription %s if it begins no run',
    (field) => {
      const document = parse(`subscription { event: ${field} { id } }`);
      expect(isRead(document, undefined)).toBe(!BEGIN.includes(field));
    },
  );

  test('is no mutation, and no subscription of one of Parley’s own documents that begins a run', () => {
    const counted = new Set<string>();
    for (const text of Object.values(PERSISTED)) {
      const document = parse(text);
      const operation = getOperationAST(document);
      const [field] = operation?.selectionSet.selections ?? [];
      if (!operation || isRead(document, undefined)) continue;
      counted.add(operation.operation === 'mutation' ? 'mutation' : nameOf(field));
    }
    expect([...counted].sort()).toEqual([...BEGIN, 'mutation']);
  });
});

function nameOf(field: unknown): string {
  const { kind, name } = field as { kind: string; name: { value: string } };
  return kind === Kind.FIELD ? name.value : kind;
}
