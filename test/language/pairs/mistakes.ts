/** A mistake in the kitchen sink: the replaced text, which occurs once, and its replacement. */
export type Mistake = readonly [found: string, replacement: string];

/** Mistakes of every kind, each at a separate position. */
export const MISTAKES: Readonly<Record<string, Mistake>> = {
  'a misspelled header': ['agentlang 5', 'agentlan 5'],
  'a misspelled agent': ['agent "Kitchen sink"', 'agnet "Kitchen sink"'],
  'an empty name': ['"Kitchen sink"', '""'],
  'no description': ['description "Says', '# description "Says'],

  'a misspelled setting': ['temperature 0.2', 'temprature 0.2'],
  'a number out of range': ['800', '0'],
  'a duration in weeks': ['1.5m', '1w'],
  'a URL without a scheme': ['"https://models.example/v1"', '"models.example"'],
  'a key in the source': ['env.MODEL_KEY', '"the key"'],
  'an unknown setting of a model': ['# Small answers are good answers.', 'sorcery 5'],

  'an unknown root': ['{{ now }}', '{{ tomorrow }}'],
  'an unknown fact': ['{{ memory.name ??', '{{ memory.street ??'],
  'a variable in the prompt': ['{{ session.id }}', '{{ env.MODEL_KEY }}'],
  'a template without an end': ['{{ context }};', '{{ context ;'],
  'a secret in the prompt': ['An indented line', 'AKIAIOSFODNN7EXAMPLE'],

  'a missing keyword': ['12 messages', '12'],
  'an unknown escape': ['wants to be', 'wants to be \\q'],
  'a fact with a dash': ['    city\n', '    home-city\n'],
  'a fact with a number': ['prompt "Never mind"', 'prompt 5'],

  'an output of an unknown type': ['answer string', 'answer strng'],
  'an output twice': ['orders string[]?', 'answer string[]?'],

  'a pale accent': ['#403cbf', '#ffee00'],
  'an empty label': ['"Looked up your order"', '""'],
  'an empty welcome': ['"Hi!"', '" "'],
  'a missing comma': ['stion with a, comma"', 'stion" "with a, comma"'],
  'a setting of another block': ['channel web {', 'channel web {\n    api_key env.MODEL_KEY'],
  'no token': ['token     env.TELEGRAM_TOKEN', ''],
  'no closing quote': ['"Hello!"', '"Hello!'],

  'a missing name': ['capability lookup', 'capability'],
  'a misspelled input': ['order_id string', 'order_di string'],
  'a type of another language': ['count    integer', 'count    int'],
  'half a list': ['string[]?  "Only', 'string[?  "Only'],
  'an input twice': ['prices   number[]', 'lines   number[]'],
  'a choice twice': ['| "late"', '| "damaged"'],
  'one choice': ['"s" | "m"?', '"s"?'],
  'an unknown context': ['?plan={{ context.plan', '?plan={{ contxt.plan'],
  'an invalid header name': ['"X-Reason"', '"X Reason"'],
  'a header with two lines': ['"Bearer {{ env.ORDERS_KEY }}"', '"Bearer\\n{{ env.ORDERS_KEY }}"'],
  'a duration without a unit': ['500ms', '500'],

  'no description of a capability': ['create "Create an order"', 'create'],
  'an unknown format of a body': ['body  form', 'body  xml'],
  'an undeclared input': ['query plan, source', 'query plan, sauce'],
  'no description of an input': ['string "Of the customer"', 'string'],
  'no request': ['put "https://api.acme.example/orders"', ''],
  'two requests': [
    'patch "https://api.acme.example/orders"',
    'patch "https://api.acme.example/orders"\n      get "https://api.acme.example/{{ input.none }}"',
  ],
  'plain http': ['delete "https://api', 'delete "http://api'],
  'an unknown word in a group': ['  tools empty {}', '  tools empty { foo }'],

  'an approval that expires too late': ['expires 2h', 'expires 8d'],
  'a mark without an effect': ['      reads\n', '      reads\n      repeatable\n'],
  'an approval without names': ['approval   all', 'approval'],
  'an approval of an unknown tool': ['approval create_issue', 'approval create_isue'],

  'an unknown tool of a test': ['expect call memory.save', 'expect call memory.safe'],
  'JSON of a test that is none': ['"{\\"status\\": \\"open\\"}"', '"{status}"'],
  'an expectation before a turn': [
    '    user   "Hello"\n    expect no call',
    '    expect no call\n    user   "Hello"',
  ],
  'a test without a message': ['    user   "Hello"\n    expect no call', ''],
  'an unknown expectation': ['expect reply omits', 'expect reply lacks'],
  'a fact of a test that is not declared': ['name   "Ada"', 'nam   "Ada"'],

  'an unknown channel': ['  tools github', '  channel sms {\n    number 5\n  }\n  tools github'],
  'a misspelled form': ['github mcp', 'github mpc'],
  'a tool twice': ['"get-issue",', 'search_issues,'],
  'a secret in a header': ['{{ env.GITHUB_TOKEN }}', '4f8KQ2mZx9LtB7vR1cYw'],
  'a template in the URL of a server': ['"https://mcp.example/github"', '"https://{{ now }}/"'],
  'an unknown group': ['tools time', 'tools tyme'],

  'a misplaced setting': ['tool_calls 0', 'temperature 0'],
  'a setting twice, with a mistake in it': ['run_time   15m', 'run_time 15m\n    run_time 16m'],
  'a block twice, with a mistake in it': [
    '  limits {',
    '  model "other" {\n    temperature 3\n  }\n\n  limits {',
  ],
  'a control character': ['a user" }}', 'a \u0007user" }}'],
};

/** Mistakes with braces and quotes, which leave a block or a text without an end. */
export const OPEN_ENDS: Readonly<Record<string, Mistake>> = {
  'no brace after the facts': ['  }\n\n  output', '\n  output'],
  'no brace after a channel': ['  }\n  channel telegram', '  channel telegram'],
  'no brace after an input': ['      }\n      get', '      get'],
  'no brace after a capability': ['    }\n    capability change', '    capability change'],
  'no brace at the end': ['} # that was all', '# that was all'],
  'no brace before the settings of a model': ['"gpt-6-luna" {', '"gpt-6-luna"'],
  'an extra brace': ['  tools time\n', '  tools time\n  }\n'],
  'text after the agent': ['# that was all', '"that was all"'],
  'no closing quotes of the prompt': ['    """\n\n  history', '\n  history'],
};
