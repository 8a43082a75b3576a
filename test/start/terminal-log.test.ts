import { Writable } from 'node:stream';
import { pino } from 'pino';
import pretty from 'pino-pretty';
import { expect, test } from 'vitest';
import { TERMINAL_LOG } from '../../src/start/terminal-log.ts';

/** The lines that a terminal shows. */
function linesOf(write: (log: pino.Logger) => void): string[] {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(...String(chunk).split('\n').filter(Boolean));
      done();
    },
  });
  write(pino(pretty({ ...TERMINAL_LOG.options, colorize: false, destination, sync: true })));
  return lines;
}

test('a terminal shows each request on one line', () => {
  const lines = linesOf((log) =>
    log.info(
      { reqId: 'req_1', method: 'GET', path: '/bots', status: 200, ms: 3 },
      'Request completed.',
    ),
  );
  expect(lines).toEqual([
    expect.stringMatching(
      /^\[\d\d:\d\d:\d\d\] INFO: Request completed\. \{.*"path":"\/bots".*"status":200.*\}$/,
    ),
  ]);
});

test('a terminal shows the stack of an error', () => {
  const lines = linesOf((log) => log.error(new Error('Broken.'), 'The start failed.'));
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.join('\n')).toContain('terminal-log.test.ts');
});
