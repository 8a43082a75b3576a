import type { Rule, Shape } from '../../../../language/grammar.ts';

/** The placeholder of each argument. A number before the colon only makes digits a valid field. */
const FIELDS: { readonly [shape in Shape]: string } = {
  string: '"#{text}"',
  'string?': '',
  text: '"""\n\t#{text}\n\t"""',
  integer: '#{1:8}',
  number: '#{1:0.2}',
  duration: '#{1:10s}',
  name: '#{name}',
  address: '"#{https://}"',
  env: 'env.#{NAME}',
  strings: '"#{text}"',
  tool: '#{tool}',
  tools: '#{tool}',
  approved: '#{all}',
  chats: 'env.#{NAME}',
  names: '#{name}',
  body: '#{json}',
  window: 'last #{1:20} messages',
  effort: '#{low}',
  value: '#{1:1}',
  call: '#{orders.lookup}',
  outcome: 'returns "#{text}"',
  expected: 'reply contains "#{text}"',
  type: '#{string}',
};

/** The first lines of a block that is an error without them. */
const BODIES: { readonly [block: string]: string } = {
  test: 'user "#{message}"\n\texpect reply contains "#{text}"',
};

/** The template of a word with its arguments and, if it needs one, its block, in CodeMirror's syntax for snippets. */
export function snippetOf(word: string, { shapes, block, blockOptional }: Rule): string {
  const parts = [word, ...shapes.map((shape) => FIELDS[shape])].filter(Boolean).join(' ');
  return block && !blockOptional ? `${parts} {\n\t${BODIES[block] ?? '#{}'}\n}` : parts;
}
