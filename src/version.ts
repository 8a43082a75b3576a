import packageJson from '../package.json' with { type: 'json' };

/** Parley's version, as `package.json` has it. */
export const VERSION: string = packageJson.version;
