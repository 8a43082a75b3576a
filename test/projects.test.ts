import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ALONE, BOTH, INTEGRATION, reaches, SLOW, SYSTEM, TEST_FILES, UNIT } from './projects.ts';

describe('a unit test', () => {
  test('imports no database, directly or through other files', () => {
    expect(UNIT).toContain('test/language/template.test.ts');
    expect(UNIT).not.toContain('test/sessions/turns.test.ts');
    expect(UNIT).not.toContain('test/agent/loop.test.ts');
    expect(reaches('test/agent/loop.test.ts', 'test/helpers/database.ts')).toBe(true);
  });

  test('has no dynamic imports, which the check cannot follow', () => {
    const dynamic = UNIT.filter((file) => /\bimport\(/.test(readFileSync(file, 'utf8')));
    expect(dynamic).toEqual([]);
  });
});

describe('a test file', () => {
  test('is a unit, an integration, a slow or a system test', () => {
    const all = [...UNIT, ...INTEGRATION, ...SLOW, ...SYSTEM, ...ALONE];
    expect(all.toSorted()).toEqual(TEST_FILES);
  });

  test('is a system test if it starts a server or a browser', () => {
    expect(SYSTEM).toContain('test/start/start.test.ts');
    expect(SYSTEM).toContain('test/start/server.test.ts');
    expect(SYSTEM).toContain('test/console/walk.test.ts');
    expect(INTEGRATION).toContain('test/agent/loop.test.ts');
    expect(SLOW).toContain('test/storage/outage.test.ts');
  });
});

describe('a test that checks which database it has', () => {
  test('runs on both', () => {
    const question = `inject('${'databaseUrl'}')`;
    const dependent = TEST_FILES.filter((file) => readFileSync(file, 'utf8').includes(question));
    expect(dependent).toContain('test/storage/storage.test.ts');
    expect(dependent.filter((file) => !BOTH.includes(file))).toEqual([]);
  });
});

describe('a test that runs alone', () => {
  test('exists and needs a database', () => {
    expect(ALONE.filter((file) => !TEST_FILES.includes(file) || UNIT.includes(file))).toEqual([]);
  });
});
