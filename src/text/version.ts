import packageJson from '../../package.json' with { type: 'json' };

/** Parley's version, from `package.json`. */
export const VERSION: string = packageJson.version;
