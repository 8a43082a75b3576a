import { describe, expect, test } from 'vitest';
import { compileLanguageHelp } from '../../src/console/build/language-help.ts';
import { completionsAt } from '../../src/console/screens/studio/language/complete.ts';
import { whiteSpaceChanges } from '../../src/console/screens/studio/language/format-changes.ts';
import {
  sentencesOn,
  topicAt,
  topicOfOption,
} from '../../src/console/screens/studio/language/help.ts';
import { marksIn } from '../../src/console/screens/studio/language/highlight.ts';
import { outlineOf } from '../../src/console/screens/studio/language/outline.ts';
import { nameFault, renamingAt } from '../../src/console/screens/studio/language/rename.ts';
import { readSyntax } from '../../src/console/screens/studio/language/syntax.ts';
import { formatSource } from '../../src/language/format.ts';
import { BLOCKS, type BlockName, wordsOf } from '../../src/language/grammar.ts';
import { readDefinition } from '../../src/language/read.ts';

const SOURCE = `agentlang 5

agent "Desk" {
  description "Answers, by orders.lookup" # orders.lookup
  model "m" {
    temperature 0.2
  }
  prompt """
    Call orders.lookup, not reorders.lookup. {{ context.orders.lookup }}
    City: {{ memory.city ?? "none" }}, {{memory.city}}
    """
  memory {
    city "Where orders go"
    name
  }
  tools orders {
    capability lookup "Find one" {
      input {
        id   string "Its number"
        full boolean?
      }
      get "https://a.example/{{ input.id }}" {
        header "Authorization" "Bearer {{ env.KEY }}"
        query id, full
      }
    }
    capability cancel "Cancel one" {
      repeatable
      approval
      delete "https://a.example/"
    }
  }
  tools remote mcp env.SERVER {
    approval all {
      expires 2h
    }
  }
  tools time
  test "finds" {
    memory {
      city "Oslo"
    }
    user "Where?"
    tool orders.lookup fails "closed"
    expect no call orders."cancel"
    expect call orders.lookup
  }
}
`;

/** A text with its cursor, which stands at the `|`. */
function at(marked: string) {
  const offset = marked.indexOf('|');
  return { syntax: readSyntax(marked.replace('|', '')), offset };
}

/** The source with its cursor behind a text. */
const behind = (text: string) => at(SOURCE.replace(text, `${text}|`));

const inAgent = (text: string) => at(`agentlang 5\nagent "A" {\n${text}\n}\n`);

function labelsAt({ syntax, offset }: ReturnType<typeof at>, deployed: string[] = []) {
  return completionsAt(syntax, offset, deployed)?.options.map(({ label }) => label);
}

describe('highlighting', () => {
  const rolesOf = (source: string) =>
    marksIn(readSyntax(source), 0, source.length).map(({ from, to, role }) => [
      source.slice(from, to),
      role,
    ]);

  test('tells keywords from the names that the author chose', () => {
    expect(rolesOf('agentlang 5\nagent "A" {\n  memory { prompt "p" }\n  tools time\n}')).toEqual([
      ['agentlang', 'keyword'],
      ['5', 'number'],
      ['agent', 'keyword'],
      ['"A"', 'string'],
      ['memory', 'keyword'],
      ['prompt', 'name'],
      ['"p"', 'string'],
      ['tools', 'keyword'],
      ['time', 'name'],
    ]);
  });

  test('marks types, variables, words of arguments, templates, escapes and comments', () => {
    const roles = rolesOf(SOURCE.replace('Find one', 'Find\\n one'));
    expect(roles).toEqual(
      expect.arrayContaining([
        ['boolean', 'type'],
        ['approval', 'keyword'],
        ['all', 'constant'],
        ['2h', 'number'],
        ['mcp', 'keyword'],
        ['env', 'keyword'],
        ['SERVER', 'name'],
        ['{{ memory.city ?? "none" }}', 'template'],
        ['\\n', 'escape'],
        ['# orders.lookup', 'comment'],
      ]),
    );
  });

  test('marks unknown words, without an agent too', () => {
    expect(rolesOf('60sec "x')).toEqual([
      ['60sec', 'invalid'],
      ['"x', 'string'],
    ]);
  });

  test('marks only the visible lines', () => {
    const from = SOURCE.indexOf('  memory');
    const marks = marksIn(readSyntax(SOURCE), from, from + 10);
    expect(marks.map(({ role }) => role)).toEqual(['keyword']);
  });
});

describe('completion', () => {
  test('writes a test that is valid as it is', () => {
    const { syntax, offset } = inAgent('  description "d"\n  prompt "p"\n  tes|');
    const options = completionsAt(syntax, offset)?.options ?? [];
    const { snippet = '' } = options.find(({ label }) => label === 'test') ?? {};
    const written = snippet.replaceAll(/#\{(?:\d+:)?(.*?)\}/g, '$1');
    const { diagnostics } = readDefinition(
      `agentlang 5\nagent "A" {\n  description "d"\n  prompt "p"\n${written}\n}\n`,
    );
    expect(diagnostics).toEqual([]);
    expect(written).toMatch(/^test "text" \{/);
  });

  test('offers the words that the block still allows', () => {
    expect(labelsAt(inAgent('  prompt "p"\n  model "m" {\n    temperature 1\n    |\n  }'))).toEqual(
      ['max_tokens', 'reasoning', 'parameter', 'fallback', 'timeout', 'base_url', 'api_key'],
    );
    expect(labelsAt(inAgent('  prompt "p"\n  model "m" {\n    reasoning |\n  }'))).toEqual([
      'none',
      'minimal',
      'low',
      'medium',
      'high',
    ]);
    const words = labelsAt(inAgent('  prompt "p"\n  tools time\n  t|'));
    expect(words).toContain('tools');
    expect(words).not.toContain('prompt');
    expect(labelsAt(inAgent('  memory {\n    |\n  }'))).toBeUndefined();
  });

  test('completes a word that is typed in the middle of a definition', () => {
    expect(labelsAt(at(SOURCE.replace('    temperature', '    ti|\n    temperature')))).toContain(
      'timeout',
    );
  });

  test.each([
    ['  channel |', ['web', 'telegram']],
    ['  tools |', ['time']],
    ['  tools a |', ['mcp']],
    ['  history |', ['none', 'last 20 messages']],
    ['  output {\n    a |\n  }', ['string', 'number', 'integer', 'boolean']],
    ['  model "m" {\n    api_key |\n  }', ['env.KEY']],
    ['  model "m" {\n    api_key env.|\n  }', ['KEY']],
    ['  channel telegram {\n    approvers |\n  }', ['env.KEY']],
    ['  channel telegram {\n    approvers env.|\n  }', ['KEY']],
    ['  history last |', undefined],
    ['  history last 20 |', ['messages']],
    ['  output {\n    a "x" |\n  }', undefined],
    ['  output {\n    a string[|\n  }', undefined],
    ['  model "m" {\n    api_key env |\n  }', undefined],
    ['  description |', undefined],
    ['  description "|"', undefined],
    ['  # |', undefined],
  ])('offers after %j what may stand there', (text, expected) => {
    expect(labelsAt(inAgent(text), ['KEY'])).toEqual(expected);
  });

  test('offers no type among the choices of a field', () => {
    const text = 'agentlang 5\nagent "A" {\n  output { a "x" | "y" | } }';
    expect(completionsAt(readSyntax(text), text.lastIndexOf('|') + 2)).toBeUndefined();
  });

  test('offers one request in a capability, and `input` only before it', () => {
    const capability = (body: string) =>
      labelsAt(inAgent(`  tools g {\n    capability c "d" {\n${body}\n    }\n  }`));
    const requests = ['get', 'post', 'put', 'patch', 'delete'];
    const marks = ['approval', 'reads', 'repeatable'];
    expect(capability('|')).toEqual(['label', 'input', ...marks, ...requests]);
    expect(capability('input { a string }\n|')).toEqual(['label', ...marks, ...requests]);
    expect(capability('|\npost "https://a.example/"')).toEqual(['label', 'input', ...marks]);
    expect(capability('post "https://a.example/"\n|')).toEqual(['label', ...marks]);
    expect(capability('label "L"\napproval\nreads\n|')).toEqual([
      'input',
      'repeatable',
      ...requests,
    ]);
  });

  test('offers no mark that has no effect on a `get` request', () => {
    const capability = (body: string) =>
      labelsAt(inAgent(`  tools g {\n    capability c "d" {\n${body}\n    }\n  }`));
    expect(capability('|\nget "https://a.example/"')).toEqual(['label', 'input', 'approval']);
    expect(capability('get "https://a.example/"\n|')).toEqual(['label', 'approval']);
    expect(capability('label "L"\napproval\nget "https://a.example/"\n|')).toBeUndefined();
  });

  test('offers the settings of an approval', () => {
    const capability = (body: string) =>
      labelsAt(inAgent(`  tools g {\n    capability c "d" {\n${body}\n    }\n  }`));
    expect(capability('approval {\n|\n}')).toEqual(['expires']);
    expect(capability('approval "s" { expires | }')).toBeUndefined();
    expect(capability('approval |')).toBeUndefined();
  });

  test('offers the tools of a server where its settings name some', () => {
    const server = (body: string) =>
      labelsAt(inAgent(`  tools g mcp env.U {\n    only a, "b-c"\n    ${body}\n  }`));
    expect(server('|')).toEqual(['header', 'label', 'approval', 'reads', 'repeatable']);
    expect(server('approval |')).toEqual(['all', 'a', '"b-c"']);
    expect(server('approval a, |')).toEqual(['a', '"b-c"']);
    expect(server('approval all {\n|\n}')).toEqual(['expires']);
    expect(server('reads |')).toEqual(['a', '"b-c"']);
    expect(server('repeatable a, |')).toEqual(['a', '"b-c"']);
    expect(labelsAt(inAgent('  tools g mcp env.U { approval | }'))).toEqual(['all']);
  });

  test('offers the parts of a test, the words of an expectation, and the tools of the agent', () => {
    const inTest = (body: string) =>
      labelsAt(
        inAgent(
          `  memory { name }\n  tools time\n  tools o { capability find "d" { get "https://a.example/" } }\n  tools s mcp env.U { only a, "b-c" }\n  test "t" {\n${body}\n  }`,
        ),
      );
    const tools = ['time.now', 'o.find', 's.a', 's."b-c"', 'memory.save', 'memory.forget'];
    expect(inTest('|')).toEqual(['context', 'memory', 'user', 'tool']);
    expect(inTest('|\nuser "a"')).toEqual(['context', 'memory', 'user', 'tool']);
    expect(inTest('user "a"\n|')).toEqual(['user', 'tool', 'expect']);
    expect(inTest('memory {\n|\n}')).toEqual(['name']);
    expect(inTest('tool |')).toEqual(tools);
    expect(inTest('tool s.|')).toEqual(['a', '"b-c"']);
    expect(inTest('tool o.find |')).toEqual(['returns', 'fails']);
    expect(inTest('tool o.find returns |')).toBeUndefined();
    expect(inTest('expect |')).toEqual(['reply', 'output', 'call', 'no call', 'tokens below']);
    expect(inTest('expect reply |')).toEqual(['contains', 'omits', 'is', 'judged']);
    expect(inTest('expect call |')).toEqual(tools);
    expect(inTest('expect no |')).toEqual(['call']);
    expect(inTest('expect no call |')).toEqual(tools);
    expect(inTest('expect tokens |')).toEqual(['below']);
    expect(inTest('expect reply is |')).toBeUndefined();
  });

  test('offers a `get` request no body', () => {
    const body = (method: string) =>
      labelsAt(
        inAgent(`  tools g { capability c "d" { ${method} "https://a.example/" { body | } } }`),
      );
    expect(body('get')).toEqual(['none']);
    expect(body('delete')).toEqual(['json', 'form', 'none']);
  });

  test('offers the paths that a template may have at its place', () => {
    const inPrompt = labelsAt(at(SOURCE.replace('City:', 'City: {{ |')));
    expect(inPrompt).toEqual(expect.arrayContaining(['memory.city', 'memory.name', 'now']));
    expect(inPrompt?.filter((label) => /^(env|input)\./.test(label))).toEqual([]);
    const inHeader = at(SOURCE.replace('env.KEY }}', 'env.KEY }} {{ in|'));
    expect(completionsAt(inHeader.syntax, inHeader.offset)?.from).toBe(inHeader.offset - 2);
    expect(labelsAt(inHeader)).toEqual(
      expect.arrayContaining(['input.id', 'input.full', 'env.KEY']),
    );
    expect(labelsAt(at(SOURCE.replace('Find one', 'Find {{ |')))).toBeUndefined();
  });

  test('offers the inputs of the capability to `query`', () => {
    expect(labelsAt(at(SOURCE.replace('query id, full', 'query |')))).toEqual(['id', 'full']);
    expect(labelsAt(at(SOURCE.replace('query id, full', 'query id, |')))).toEqual(['id', 'full']);
  });

  test('begins an empty definition', () => {
    expect(labelsAt(at('|'))).toEqual(['agentlang 5']);
    expect(labelsAt(at('agentlang 5\n|'))).toEqual(['agent']);
  });

  test('finishes for every offset of a definition, whole or cut', () => {
    for (let offset = 0; offset <= SOURCE.length; offset += 1)
      for (const text of [SOURCE, SOURCE.slice(0, offset)])
        expect(() => completionsAt(readSyntax(text), offset)).not.toThrow();
  });
});

describe('renaming', () => {
  const renamed = (text: string, name: string) => {
    const { syntax, offset } = behind(text);
    const renaming = renamingAt(syntax, offset);
    return renaming?.ranges.reduceRight(
      (source, { start, end }) => source.slice(0, start) + name + source.slice(end),
      SOURCE,
    );
  };

  test('changes a fact where it is declared and in each template', () => {
    const expected = SOURCE.replaceAll('city "', 'town "').replaceAll('memory.city', 'memory.town');
    expect(renamed('    city', 'town')).toBe(expected);
    expect(renamed('{{memory.ci', 'town')).toBe(expected);
  });

  test('changes an input in its templates and in `query`', () => {
    expect(renamed('{{ input.i', 'number')).toBe(
      SOURCE.replace('id   string', 'number   string')
        .replace('input.id', 'input.number')
        .replace('query id', 'query number'),
    );
  });

  test('changes a capability and its full name in the texts for the model, but in no comment or template', () => {
    const expected = SOURCE.replace('capability lookup', 'capability find')
      .replace('by orders.lookup', 'by orders.find')
      .replace('Call orders.lookup', 'Call orders.find')
      .replace('tool orders.lookup', 'tool orders.find')
      .replace('call orders.lookup', 'call orders.find');
    expect(renamed('capability look', 'find')).toBe(expected);
    expect(renamed('Call orders.look', 'find')).toBe(expected);
  });

  test('changes a group and its name before its tools', () => {
    expect(renamed('tools ord', 'shop')).toBe(
      SOURCE.replace('tools orders', 'tools shop')
        .replace('by orders.', 'by shop.')
        .replace('Call orders.', 'Call shop.')
        .replace('tool orders.', 'tool shop.')
        .replaceAll('call orders.', 'call shop.'),
    );
  });

  test('changes a fact and a capability from a test, also a tool in quotes', () => {
    expect(renamed('      ci', 'town')).toBe(renamed('    city', 'town'));
    expect(renamed('fails', 'town')).toBeUndefined();
    expect(renamed('no call orders."can', 'stop')).toBe(
      SOURCE.replace('capability cancel', 'capability stop').replace('"cancel"', '"stop"'),
    );
  });

  test.each(['temper', 'agentl', 'tools ti', 'env.KE'])('changes nothing at %j', (text) => {
    expect(renamed(text, 'x')).toBeUndefined();
  });

  test('refuses names that the language does not allow, and names that are taken', () => {
    const { syntax, offset } = behind('    city');
    const renaming = renamingAt(syntax, offset);
    const faultOf = (name: string) => renaming && nameFault(name, renaming);
    expect(faultOf('city')).toBeUndefined();
    expect(faultOf('town_2')).toBeUndefined();
    expect(faultOf('2nd')).toMatch(/no digit first/);
    expect(faultOf('name')).toMatch(/another fact/);
    expect(faultOf('a'.repeat(65))).toMatch(/at most 64/);
  });
});

test('the outline lists settings, facts, channels, tools and variables with their places', () => {
  const outline = outlineOf(readSyntax(SOURCE));
  const names = Object.fromEntries(
    Object.entries(outline).map(([part, entries]) => [part, entries.map(({ name }) => name)]),
  );
  expect(names).toEqual({
    settings: ['description', 'model', 'prompt'],
    facts: ['city', 'name'],
    channels: [],
    tools: ['orders.lookup', 'orders.cancel', 'remote.*', 'time'],
    tests: ['finds'],
    variables: ['KEY', 'SERVER'],
  });
  expect(outline.tools.map(({ detail }) => detail)).toEqual([
    'GET',
    'DELETE, approval',
    'MCP, approval',
    'built in',
  ]);
  const [key] = outline.variables;
  expect(SOURCE.slice(key?.start).startsWith('env.KEY')).toBe(true);
});

describe('help', () => {
  const helpAt = async (text: string) => {
    const { syntax, offset } = behind(text);
    const topic = topicAt(syntax, offset - 1);
    const all = topic ? sentencesOn(topic, await compileLanguageHelp()) : [];
    return all.map((sentence) =>
      sentence.map((part) => (typeof part === 'string' ? part : part.code)).join(''),
    );
  };

  test.each([
    ['temper', /^temperature is 0 to 2/],
    ['    quer', /^query names declared inputs/],
    ['capab', /^A capability has/],
    ['boole', /^The types are string/],
    ['mc', /^tools NAME mcp with a URL/],
    ['approval al', /^all covers every tool/],
    ['approv', /^approval may have a sentence/],
    ['    expi', /^expires is 1m to 7d/],
    ['      repeat', /^repeatable says that the service/],
    ['    expe', /^expect call with JSON asks/],
    ['fai', /^tool with returns or fails/],
    ['    us', /^Each user begins a turn/],
    ['{{ mem', /^memory is followed by the name of a declared fact/],
    ['agentl', /^A source begins with agentlang 5/],
  ])('at %j is the reference’s sentence on it', async (text, sentence) => {
    expect((await helpAt(text))[0]).toMatch(sentence);
  });

  test('has a sentence on every keyword of every block', async () => {
    const help = await compileLanguageHelp();
    const blocks = Object.keys(BLOCKS) as BlockName[];
    const words = blocks.flatMap((block) => wordsOf(block).map((label) => ({ block, label })));
    const silent = words.filter(({ block, label }) => {
      const topic = topicOfOption({ label, kind: 'keyword' }, block);
      return !topic || sentencesOn(topic, help).length === 0;
    });
    expect(words.length).toBeGreaterThan(30);
    expect(silent).toEqual([]);
  });

  test.each(['    cit', '"Des'])('is silent at %j', async (text) => {
    expect(await helpAt(text)).toEqual([]);
  });
});

describe('formatting in the editor', () => {
  test('changes white space alone, so that the cursor stays at its word', () => {
    const before = SOURCE.replaceAll('  ', '\t').replace('{\n', '   {\n\n\n');
    const after = formatSource(before) ?? '';
    const changes = whiteSpaceChanges(before, after);
    const applied = changes.reduceRight(
      (text, { from, to, insert }) => text.slice(0, from) + insert + text.slice(to),
      before,
    );
    expect(applied).toBe(after);
    expect(changes.every(({ from, to }) => before.slice(from, to).trim() === '')).toBe(true);
    expect(readDefinition(after).definition).toEqual(readDefinition(SOURCE).definition);
  });

  test('replaces the rest at a difference that is no white space', () => {
    expect(whiteSpaceChanges('a b', 'a  c d')).toEqual([
      { from: 1, to: 2, insert: '  ' },
      { from: 2, to: 3, insert: 'c d' },
    ]);
  });
});
