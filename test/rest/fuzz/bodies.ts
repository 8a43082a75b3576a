import fc from 'fast-check';

/** Names of inherited members, names of fields, and random names. */
const names = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'length', '', '0', '$ref'),
  fc.constantFrom('message', 'prompt', 'context', 'stream', 'environment', 'agentlang', 'env_vars'),
  fc.string({ unit: 'binary', maxLength: 10 }),
);

/** Random JSON, with lone surrogates, control characters and special names. */
const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, true, false, '', 0, -0, '\0', '\ud800', 'production', 'staging'),
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.double(),
    fc.integer(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(names, tie('value')), { maxLength: 4 }).map(object),
  ),
})).value;

/** JSON texts that `JSON.stringify` never produces. */
const texts = fc.oneof(
  fc.constantFrom('1e999', '-1e999', '1e-999', '123456789012345678901234567890', '-0', '"\\ud800"'),
  fc.nat(2_000).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`),
  fc.nat(2_000).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
  fc.nat(2_000).map((depth) => '{"context":'.repeat(depth)),
  fc.string({ unit: 'binary', maxLength: 60 }),
);

/** Bodies for a route with this valid body: the body with changes, or random text. */
export function bodiesLike(good: Record<string, unknown>): fc.Arbitrary<string> {
  const changed = fc
    .array(fc.tuple(fc.oneof(fc.constantFrom(...Object.keys(good)), names), value), {
      maxLength: 3,
    })
    .map((changes) => JSON.stringify(object([...Object.entries(good), ...changes])));
  const cut = fc.tuple(changed, fc.nat(60)).map(([text, length]) => text.slice(0, length));
  const spliced = fc
    .tuple(changed, fc.nat(60), texts)
    .map(([text, at, more]) => text.slice(0, at) + more + text.slice(at));
  return fc.oneof(
    { weight: 5, arbitrary: changed },
    { weight: 1, arbitrary: cut },
    { weight: 1, arbitrary: spliced },
    { weight: 2, arbitrary: value.map((any) => JSON.stringify(any)) },
    { weight: 1, arbitrary: texts },
  );
}

/** An object with exactly these names, where `__proto__` is an ordinary one. */
function object(entries: [string, unknown][]): object {
  return Object.fromEntries(entries);
}
