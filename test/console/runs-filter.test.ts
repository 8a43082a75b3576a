import { describe, expect, test } from 'vitest';
import { FILTER_NAMES, filterAt, readFilters } from '../../src/console/runs/filter.ts';

const read = (search: string) => readFilters(new URLSearchParams(search));

describe('the filters of an address', () => {
  test.each([
    ['text=lamp', { text: 'lamp' }],
    ['status=failed', { status: ['FAILED'] }],
    ['range=24h', {}],
    ['date=2026-11-21', { date: '2026-11-21' }],
    ['from=2026-11-21T10:00:00%2B02:00', { from: '2026-11-21T08:00:00.000Z' }],
    ['to=2026-11-21', { to: '2026-11-21T00:00:00.000Z' }],
    ['user=ada', { user: 'ada' }],
    ['environment=staging', { environment: 'STAGING' }],
    ['channel=telegram', { channel: ['TELEGRAM'] }],
    ['entrance=openai', { entrance: ['OPENAI'] }],
    ['kind=execute', { kind: 'EXECUTE' }],
    ['feedback=down', { feedback: 'DOWN' }],
    ['deployment_id=dep_1', { deploymentId: 'dep_1' }],
    ['model=gpt-6-luna', { model: 'gpt-6-luna' }],
    ['error_code=model_timeout', { errorCode: ['MODEL_TIMEOUT'] }],
    ['min_latency_ms=5000', { minLatencyMs: 5_000 }],
    ['min_tokens=2147483647', { minTokens: 2_147_483_647 }],
  ])('has the valid condition %s', (search, filter) => {
    expect(read(search)).toMatchObject({ filter, faults: {} });
    expect(read(search).filter).toEqual(filter);
  });

  test('has all conditions together but the range, which a fixed time excludes', () => {
    const search =
      'text=lamp&status=failed&from=2026-11-21&to=2026-11-22&user=ada&environment=staging&channel=web' +
      '&entrance=mcp&kind=chat&feedback=up&deployment_id=dep_1&model=m&error_code=interrupted&min_latency_ms=1&min_tokens=2';
    const { values, faults, filter } = read(search);
    expect(faults).toEqual({});
    expect(Object.keys(values)).toEqual(
      FILTER_NAMES.filter((name) => name !== 'range' && name !== 'date'),
    );
    expect(filter).toEqual({
      text: 'lamp',
      status: ['FAILED'],
      from: '2026-11-21T00:00:00.000Z',
      to: '2026-11-22T00:00:00.000Z',
      user: 'ada',
      environment: 'STAGING',
      channel: ['WEB'],
      entrance: ['MCP'],
      kind: 'CHAT',
      feedback: 'UP',
      deploymentId: 'dep_1',
      model: 'm',
      errorCode: ['INTERRUPTED'],
      minLatencyMs: 1,
      minTokens: 2,
    });
  });

  test.each([
    'text=%00a',
    'text=-',
    'status=broken',
    'range=2h',
    'date=2026-02-30',
    'date=0000-01-01',
    'from=yesterday',
    'from=0000-01-01',
    'to=9999-12-31T23:59-05:00',
    'to=2026-11-21T10:00',
    'user=a%00',
    'environment=mars',
    'channel=fax',
    'entrance=fax',
    'kind=constructor',
    'feedback=sideways',
    'deployment_id=1',
    'deployment_id=dep_%00',
    'model=%00',
    'error_code=run_not_found',
    'min_latency_ms=0',
    'min_tokens=2147483648',
  ])('lacks the invalid condition %s, and has the others', (search) => {
    const [name = ''] = search.split('=', 1);
    const others = name === 'user' ? 'model=m' : 'user=ada';
    const { faults, filter } = read(`${search}&${others}`);
    expect(Object.keys(faults)).toEqual([name]);
    expect(filter).toEqual(read(others).filter);
  });

  test.each([
    ['date=2026-11-21', 'date'],
    ['from=2026-11-21', 'from'],
    ['to=2026-11-21', 'to'],
  ])('has no range beside %s', (fixed, name) => {
    const filters = read(`range=24h&${fixed}`);
    expect(filters.faults).toEqual({ range: `A range cannot be combined with ${name}.` });
    expect(filterAt(filters, Date.now())).toEqual(read(fixed).filter);
  });

  test('has a range beside a fixed time that is invalid', () => {
    const filters = read('range=24h&from=yesterday');
    expect(Object.keys(filters.faults)).toEqual(['from']);
    const now = Date.parse('2026-11-21T10:00:00Z');
    expect(filterAt(filters, now)).toEqual({ from: '2026-11-20T10:00:00.000Z' });
  });
});
