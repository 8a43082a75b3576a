import { BOUNDS } from '../bounds.ts';
import type { HttpHeader } from '../definition.ts';
import { stringValue } from '../strings.ts';
import type { Member } from '../syntax.ts';
import { quote } from '../token.ts';
import { checkNames } from './names.ts';
import { checkTemplate, type Scope } from './templates.ts';
import { type Check, stringsOf } from './values.ts';

/** The characters of a header's name and value: RFC 9110, sections 5.1 and 5.5. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\u0020-\u007E\u0080-\u00FF]*$/;

/** The headers of a request or a server. */
export function checkHeaders(members: readonly Member[], scope: Scope, check: Check): HttpHeader[] {
  const names = members.flatMap((member) => stringsOf(member).slice(0, 1));
  checkNames(names, check, {
    max: { count: BOUNDS.headers, what: 'headers' },
    maxLength: BOUNDS.longNameLength,
    keyOf: (name) => name.toLowerCase(),
  });
  return members.flatMap((member) => {
    const [nameToken, valueToken] = stringsOf(member);
    if (!nameToken || !valueToken) return [];
    const name = stringValue(nameToken);
    if (!NAME.test(name))
      check.report('invalid-header', nameToken, () => `${quote(name)} is no header name`);
    const { template } = checkTemplate(valueToken, scope, check);
    if (template.some((part) => typeof part === 'string' && !VALUE.test(part)))
      check.report(
        'invalid-header',
        valueToken,
        'a header takes one line of Latin letters and signs',
      );
    return [{ name, value: template }];
  });
}
