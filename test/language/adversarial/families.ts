/** Makes a source of at most this number of bytes. */
export type Family = (bytes: number) => string;

/** A beginning, numbered pieces for as long as they fit, and an end. */
export function fill(beginning: string, piece: (index: number) => string, end = ''): Family {
  return (bytes) => {
    const parts = [beginning];
    let left = bytes - Buffer.byteLength(beginning + end);
    for (let index = 0; ; index += 1) {
      const next = piece(index);
      left -= Buffer.byteLength(next);
      if (left < 0) return parts.join('') + end;
      parts.push(next);
    }
  };
}

/** Half of the bytes from one family, half from another. */
function halves(one: Family, other: Family): Family {
  return (bytes) => one(bytes / 2) + other(bytes / 2);
}

export const AGENT = 'agentlang 5\nagent "A" {\n  description "d"\n';
const PROMPT = `${AGENT}  prompt "p"\n`;
const REQUEST = `${PROMPT}  tools g { capability c "d" { get "https://a.example/" {\n`;
const INPUT = `${PROMPT}  tools g { capability c "d" { input {\n`;
const INPUT_END = '} get "https://a.example/" } } }';

/** A unique name for each number. All have the same length. */
const name = (index: number) => `n${index.toString(36).padStart(5, 'q')}`;
/** The same name with two wrong letters. */
const misspelt = (index: number) => `n${index.toString(36).padStart(5, 'q').slice(0, 4)}zz`;
const long = (index: number) => `${'long_name_'.repeat(30)}${index}`;

const letters = (index: number) => String.fromCodePoint(0x4e_00 + (index % 20_000));

/** Sources that a hostile author writes. Each repeats input that one part of the parser might take too long for. */
export const FAMILIES: { readonly [what: string]: Family } = {
  'misspelt facts': halves(
    fill(`${AGENT}  memory {\n`, (index) => `${name(index)}\n`, '}\n'),
    fill('  prompt """', (index) => `{{memory.${misspelt(index)}}}`, '"""\n}\n'),
  ),
  'misspelt facts with long names': halves(
    fill(`${AGENT}  memory {\n`, (index) => `${long(index)}\n`, '}\n'),
    fill('  prompt """', (index) => `{{memory.${long(index)}x}}`, '"""\n}\n'),
  ),
  'misspelt inputs': halves(
    fill(INPUT, (index) => `${name(index)} string\n`),
    fill('} get "https://a.example/', (index) => `{{input.${misspelt(index)}}}`, '" } } }'),
  ),
  'declared facts': halves(
    fill(`${AGENT}  memory {\n`, (index) => `${name(index)}\n`, '}\n'),
    fill('  prompt """', (index) => `{{memory.${name(index)}}}`, '"""\n}\n'),
  ),
  'misspelt settings': fill(PROMPT, (index) => `hstory${index % 10}\n`),
  'misspelt settings in blocks': fill(PROMPT, (index) => `modl ${index} { tmperature 1 }\n`),
  'unknown settings': fill(PROMPT, (index) => `${name(index)}\n`),
  'unknown short words': fill(PROMPT, () => 'ge\n'),
  'unknown words in a request': fill(REQUEST, () => 'headr\n'),
  'misplaced settings': fill(PROMPT, () => 'header\n'),
  'misspelt types': fill(INPUT, (index) => `${name(index)} strng\n`, INPUT_END),
  'misspelt channels': fill(PROMPT, (index) => `channel we${index}\n`, '}'),
  'misspelt groups': fill(PROMPT, (index) => `tools tme${index}\n`, '}'),
  'misspelt roots': fill(`${AGENT}prompt """`, () => '{{contxt.a}}', '"""\n}'),
  'misspelt forms': fill(PROMPT, (index) => `tools a${index} mpc "https://a.example"\n`, '}'),

  'facts of one name': fill(`${PROMPT}memory {`, () => ' a', '}}'),
  'facts of one long name': fill(`${PROMPT}memory {`, () => ` ${long(1)}`, '}}'),
  'facts of many names': fill(`${PROMPT}memory {`, (index) => ` ${name(index)}`, '}}'),
  'one long name': fill(`${PROMPT}memory { a`, () => 'a', '}}'),
  'long words': fill(PROMPT, () => `${'ab'.repeat(5_000)}\n`, '}'),
  'groups of one name': fill(PROMPT, () => ' tools time', '}'),
  'groups of many names': fill(PROMPT, (index) => ` tools ${name(index)} {}`, '}'),
  'servers of many names': fill(PROMPT, (index) => ` tools ${name(index)} mcp env.U`, '}'),
  'repeated settings': fill(PROMPT, () => 'history none\n', '}'),
  'capabilities of one name': fill(
    `${PROMPT}tools g {`,
    () => 'capability a "b" { get "https://a.example" }\n',
    '}}',
  ),
  'capabilities of many names': fill(
    `${PROMPT}tools g {`,
    (index) => `capability a${index} "b" { get "https://a.example" }\n`,
    '}}',
  ),
  'capabilities in a group with a long name': halves(
    fill(`${PROMPT}tools g`, () => 'g', ' {'),
    fill('', (index) => `capability a${index} "b" {get "https://a.b"}\n`, '}}'),
  ),
  'requests of one capability': fill(
    `${PROMPT}tools g { capability a "b" {`,
    (index) => `${index % 2 ? 'get' : 'put'} "https://a.example"\n`,
    '}}}',
  ),
  inputs: fill(INPUT, (index) => `${name(index)} string "d"\n`, INPUT_END),
  'inputs next to a long type': halves(
    fill(`${INPUT} a `, (index) => `"${name(index)}" | `, '"z" "d"\n'),
    fill('', (index) => `${name(index)} string "d"\n`, INPUT_END),
  ),
  'inputs next to a long name': halves(
    fill(`${INPUT} a`, () => 'a', ' string "d"\n'),
    fill('', (index) => `${name(index)} string "d"\n`, INPUT_END),
  ),
  choices: fill(`${INPUT} a "x"`, (index) => ` | "${index}"`, INPUT_END),
  'repeated choices': fill(`${INPUT} a "x"`, () => '|"x"', INPUT_END),
  headers: fill(REQUEST, (index) => `header "X-${index}" "{{ env.K${index} }}"\n`, '}}}}'),
  'headers of one name': fill(REQUEST, () => 'header "X-A" "a"\n', '}}}}'),
  suggestions: fill(`${PROMPT}channel web { suggestions "a"`, () => ',""', '}}'),
  'tools of a server': fill(`${PROMPT}tools g mcp env.U { only a`, () => ',a', '}}'),
  'tools of a server in quotes': fill(
    `${PROMPT}tools g mcp env.U { only a`,
    (index) => `,"${index}"`,
    '}}',
  ),
  'approvals of many tools': fill(
    `${PROMPT}tools g mcp env.U {\n`,
    (index) => `approval ${name(index)} "s" { expires 2h }\n`,
    '}}',
  ),
  'approvals of tools that only omits': fill(
    `${PROMPT}tools g mcp env.U {\nonly ${Array.from({ length: 128 }, (_, index) => name(index)).join(',')}\n`,
    (index) => `approval ${misspelt(index)}\n`,
    '}}',
  ),
  'approvals of all tools': fill(`${PROMPT}tools g mcp env.U {`, () => ' approval all', '}}'),
  'marked tools of one name': halves(
    fill(`${PROMPT}tools g mcp env.U { reads a`, () => ',a'),
    fill(' repeatable a', () => ',a', '}}'),
  ),
  'approvals of one capability': fill(
    `${PROMPT}tools g { capability a "b" {`,
    () => 'approval reads\n',
    '}}}',
  ),
  'chats of approvers': fill(
    `${PROMPT}channel telegram { token env.T approvers "1`,
    (index) => `, -${index}`,
    '" }}',
  ),
  'tests of one name': fill(PROMPT, () => 'test "t" { user "a" }\n', '}'),
  'tests without a turn': fill(PROMPT, () => 'test "t" {}\n', '}'),
  'turns of one test': fill(`${PROMPT}test "t" {\n`, () => 'user "a"\n', '}}'),
  'expectations before a turn': fill(`${PROMPT}test "t" {\n`, () => 'expect no call\n', '}}'),
  'unknown tools of a test': fill(
    `${PROMPT}tools g mcp env.U { only ${Array.from({ length: 128 }, (_, index) => name(index)).join(',')} } test "t" { user "a"\n`,
    (index) => `expect call g.${misspelt(index)}\n`,
    '}}',
  ),
  'a test with large JSON': fill(
    `${PROMPT}test "t" { context "{\\"a\\": [0`,
    () => ',1',
    ']}" user "a" }}',
  ),
  'a test with deep JSON': halves(
    fill(`${PROMPT}test "t" { context "{\\"a\\": `, () => '['),
    fill('', () => ']', '}" user "a" }}'),
  ),
  'a list without an end': fill(`${PROMPT}channel web { suggestions `, () => '"a",'),

  'templates in a prompt': fill(`${AGENT}prompt """`, () => '{{now}}', '"""\n}'),
  'templates with defaults': fill(`${AGENT}prompt """`, () => '{{context.a??"b"}}', '"""\n}'),
  'templates on separate lines': fill(`${AGENT}prompt """\n`, () => '  {{now}}\n', '  """\n}'),
  'a template with a long path': fill(`${AGENT}prompt "{{context`, () => '.a', '}}"\n}'),
  'templates with long paths': fill(
    `${AGENT}prompt """`,
    () => `{{context${'.a'.repeat(400)}}}`,
    '"""\n}',
  ),
  'templates that never close': fill(`${AGENT}prompt """`, () => '{{context.a??"'),
  'templates with open defaults': fill(`${AGENT}prompt """`, () => '{{a??\\"'),
  'templates with escaped quotes': fill(`${AGENT}prompt "`, () => '{{a??"\\"'),
  'open templates': fill(`${AGENT}prompt "`, () => '{{'),
  'open templates with spaces': fill(`${AGENT}prompt """`, () => '{{      ', '"""\n}'),
  'templates outside of strings': fill(AGENT, () => '{{ a ?? "'),
  'names outside of strings': fill(AGENT, () => '{{ a '),
  'templates in a URL': fill(
    `${PROMPT}tools g { capability c "d" { get "https://a.example/`,
    () => '{{now}}',
    '" } } }',
  ),
  'templates in a host': fill(
    `${PROMPT}tools g { capability c "d" { get "https://a`,
    () => '{{now}}',
    '" } } }',
  ),
  'variables in a host': fill(
    `${PROMPT}tools g { capability c "d" { get "https://a`,
    (index) => `{{env.E${index}}}`,
    '" } } }',
  ),
  'variables in headers': fill(
    REQUEST,
    (index) => `header "X-${index}" "{{env.${name(index)}}}"\n`,
    '}}}}',
  ),

  'a long host': fill(`${PROMPT}tools g { capability c "d" { get "https://`, () => 'a', '" } } }'),
  'a long host beyond ASCII': fill(
    `${PROMPT}tools g { capability c "d" { get "https://`,
    letters,
    '" } } }',
  ),
  'a host of many labels': fill(
    `${PROMPT}tools g mcp "https://`,
    (index) => `${letters(index)}.`,
    '" }',
  ),
  'a URL of many steps': fill(
    `${PROMPT}tools g { capability c "d" { get "https://a.example`,
    (index) => (index % 2 ? '/..' : '/a'),
    '" } } }',
  ),
  'a URL with many parameters': fill(
    `${PROMPT}tools g { capability c "d" { get "https://a.example/?`,
    () => 'é&',
    '" } } }',
  ),
  URLs: fill(PROMPT, (index) => `tools ${name(index)} mcp "http://u:p@a.b:${index}"\n`, '}'),

  'beginnings of secrets': fill(`${AGENT}prompt "`, () => 'sk-', '"\n}'),
  'beginnings of tokens': fill(`${AGENT}prompt "`, () => 'Bearer a', '"\n}'),
  'tokens with spaces': fill(`${AGENT}prompt "`, () => 'Bearer    Basic    ', '"\n}'),
  'beginnings of private keys': fill(`${AGENT}prompt "`, () => '-----BEGIN A', '"\n}'),
  'private keys without an end': fill(
    `${AGENT}prompt "`,
    () => '-----BEGIN AAAAAAAAAA BBBBBBBBBB CCCCCC ',
    '"\n}',
  ),
  'numbers like the beginning of a token': fill(`${AGENT}prompt "`, () => '12345678:', '"\n}'),
  'digits and signs': fill(`${AGENT}prompt "`, () => '1+', '"\n}'),
  'one long random run': fill(
    `${AGENT}prompt "`,
    (index) => `aB${(index * 7919).toString(36)}`,
    '"\n}',
  ),
  'runs of random letters': fill(
    `${AGENT}prompt "`,
    (index) => `aB3${(index * 7919 + 1e12).toString(36).padEnd(40, 'Qr7x')} `,
    '"\n}',
  ),
  'strings that look like secrets': fill(
    `${PROMPT}channel web { suggestions "a"`,
    (index) => `,"sk-proj-0123456789abcdef${index}"`,
    '}}',
  ),
  'words that look like secrets': fill(
    PROMPT,
    (index) => `sk-proj-0123456789abcdef${index}\n`,
    '}',
  ),
  'web addresses in a text': fill(`${AGENT}prompt "`, () => 'http://a ', '"\n}'),

  'open braces': fill(AGENT, () => '{'),
  'closing braces': fill(`${PROMPT}`, () => '}'),
  'open blocks': fill(`${PROMPT}tools x {`, () => ' capability a "b" { get "https://a.b/" {'),
  'open blocks on lines': fill(`${PROMPT}  tools x {\n`, () => 'capability a "b" {\n'),
  'open blocks, each further left': fill(PROMPT, () => '  tools x {\n capability a "b" {\n'),
  'blocks closed twice': fill(PROMPT, () => 'model "m" { } }\n'),
  'blocks without their opening brace': fill(PROMPT, () => 'model "m" temperature 1 }\n'),
  'deep nesting': (bytes) =>
    `${PROMPT}foo ${'{'.repeat((bytes - 200) / 2)}${'}'.repeat((bytes - 200) / 2)}\n}`,
  'brackets and signs': fill(PROMPT, () => '[ ] . , | ? '),

  words: fill(AGENT, () => 'a '),
  'words after open braces': fill(AGENT, () => '{tools'),
  'words after closing braces': fill(REQUEST, () => 'tools}'),
  'inputs without a type': fill(INPUT, () => 'get\n'),
  lines: fill('', () => '\n'),
  'white space in a block': fill(`${PROMPT}`, () => ' ', '}'),
  'white space that ends an open string': fill(`${AGENT}prompt "a {`, () => ' '),
  'braces and white space in an open string': fill(`${AGENT}prompt "`, () => ' {    }'),
  'lines in a text': fill(`${AGENT}prompt """`, () => '\n', '"""\n}'),
  'indented lines in a text': fill(
    `${AGENT}prompt """\n`,
    () => `${' '.repeat(99)}a\n`,
    '  """\n}',
  ),
  'a text with a deep closing line': halves(
    fill(`${AGENT}prompt """\n`, () => '   a\n'),
    fill('', () => ' ', '"""\n}'),
  ),
  'empty lines and comments': fill(PROMPT, () => '# a\n\n', '}'),
  'comments after commas': fill(`${PROMPT}channel web { suggestions "a"`, () => ', # b\n"c"', '}}'),
  'comments of another language': fill(PROMPT, () => '//\n', '}'),
  quotes: fill(AGENT, () => '"\n'),
  'three quotes': fill(AGENT, () => '"""'),
  'escaped quotes': fill(`${AGENT}prompt "`, () => '\\"', '"\n}'),
  'wrong escapes': fill(`${AGENT}prompt "`, () => '\\x', '"\n}'),
  'wrong characters': fill(`${AGENT}prompt "`, () => '\\u{d800}', '"\n}'),
  'control characters': fill(AGENT, () => '\u0001 '),
  digits: fill(`${PROMPT}history last `, () => '1', ' messages }'),
  'a long version': fill('agentlang ', () => '1'),
  'numbers that touch letters': fill(PROMPT, () => '1a ', '}'),
  points: fill(`${PROMPT}history last 1`, () => '.1', '}'),
};
