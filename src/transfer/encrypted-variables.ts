import type { EnvironmentCipher } from '../deployments/environment.ts';

/** A deployment as PostgreSQL writes it in JSON: bytes are `\x` and hex digits. */
type DeploymentRow = { id: string; env_vars: string | null };

/** Encrypts the variables of a deployment under another key. @throws Error if `from` cannot decrypt them. */
export function reencrypted<Row extends DeploymentRow>(
  row: Row,
  from: EnvironmentCipher,
  to: EnvironmentCipher,
): Row {
  const { id, env_vars } = row;
  if (env_vars === null) return row;
  const variables = from.decrypt(id, Buffer.from(env_vars.slice('\\x'.length), 'hex'));
  return { ...row, env_vars: `\\x${Buffer.from(to.encrypt(id, variables)).toString('hex')}` };
}
