import { BOUNDS } from '../bounds.ts';
import type { SourceRange } from '../source.ts';
import { hint } from '../suggest.ts';
import type { Template } from '../template.ts';
import { parseTemplate, type Reference } from '../template-parser.ts';
import { quote, type Token } from '../token.ts';
import type { Check } from './values.ts';

/** The names that a template may use, depending on where it is. */
export type Scope = {
  /** Declared facts. `unknown` if they could not be parsed; then any name is accepted. */
  readonly facts: ReadonlySet<string> | 'unknown';
  /** Declared inputs, as for facts. Undefined outside a capability. */
  readonly inputs?: ReadonlySet<string> | 'unknown';
  /** Whether `env` is allowed. */
  readonly env: boolean;
};

/** The allowed paths of each root. */
const ROOTS = {
  context: { form: 'context.NAME', pattern: /^context(?:\.\w+)*$/ },
  memory: { form: 'memory.NAME', pattern: /^memory\.[A-Za-z_]\w*$/ },
  input: { form: 'input.NAME', pattern: /^input\.[A-Za-z_]\w*$/ },
  session: { form: 'session.id', pattern: /^session\.id$/ },
  now: { form: 'now', pattern: /^now$/ },
  env: { form: 'env.NAME', pattern: /^env\.[A-Za-z_]\w*$/ },
} as const;

type Root = keyof typeof ROOTS;

const isRoot = (name: string): name is Root => Object.hasOwn(ROOTS, name);

/** Parses a string with templates, and reports paths that are not allowed there. */
export function checkTemplate(token: Token, scope: Scope, check: Check) {
  const parsed = parseTemplate(check.source, token, check.report);
  for (const reference of parsed.references) checkReference(reference, scope, check);
  const extra = parsed.references[BOUNDS.references];
  if (extra) {
    const found = `found ${parsed.references.length}`;
    const message = `expected at most ${BOUNDS.references} templates in one text, ${found}`;
    check.report('too-many-references', extra, message);
  }
  return parsed;
}

/** Replaces a template that could not be parsed. */
export const NO_TEMPLATE: Template = [];

function checkReference(reference: Reference, scope: Scope, check: Check): void {
  const { path } = reference;
  const [root = '', name = ''] = path;
  const text = path.join('.');
  if (text.length > BOUNDS.pathLength) {
    const length = `expected at most ${BOUNDS.pathLength}`;
    const message = `the path has ${text.length} characters, ${length}`;
    check.report('invalid-template', reference, message);
  } else if (!isRoot(root)) {
    check.report('unknown-root', reference, () => {
      const roots = Object.keys(ROOTS).filter((other) => isRoot(other) && isAllowed(other, scope));
      return `unknown name ${quote(root)}${hint(root, roots)}`;
    });
  } else if (!isAllowed(root, scope)) {
    if (root === 'env')
      check.report(
        'env-in-prompt',
        reference,
        '"env" is not allowed in a prompt, because the model must not read secrets',
      );
    else check.report('unknown-root', reference, '"input" has values in a capability only');
  } else if (!ROOTS[root].pattern.test(text)) {
    const { form } = ROOTS[root];
    check.report('invalid-template', reference, () => `expected ${form}, found ${quote(text)}`);
  } else if (root === 'env') {
    check.useEnv(name, reference);
  } else if (root === 'memory') {
    checkDeclared('fact', name, reference, scope.facts, check);
  } else if (root === 'input') {
    checkDeclared('input', name, reference, scope.inputs ?? 'unknown', check);
  }
}

function isAllowed(root: Root, scope: Scope): boolean {
  if (root === 'env') return scope.env;
  return root !== 'input' || scope.inputs !== undefined;
}

/** Reports a fact or an input that is not declared. */
export function checkDeclared(
  what: 'fact' | 'input',
  name: string,
  range: SourceRange,
  names: ReadonlySet<string> | 'unknown',
  { report }: Check,
): void {
  if (names === 'unknown' || names.has(name)) return;
  report(`unknown-${what}`, range, () => {
    return `${what} ${quote(name)} is not declared${hint(name, names)}`;
  });
}
