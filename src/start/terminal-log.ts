/** The log on a terminal: one line for each entry, its fields after the message. Only an error has its stack below. */
export const TERMINAL_LOG = {
  target: 'pino-pretty',
  options: { ignore: 'pid,hostname', singleLine: true, translateTime: 'SYS:HH:MM:ss' },
};
