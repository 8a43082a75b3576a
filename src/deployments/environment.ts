import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { MAX_ENV_VARS } from '../input.ts';

/** The variables of a deployment by name. Values are secret: they are nowhere shown, logged or answered. */
export type EnvironmentVariables = Record<string, string>;

/** The values of all variables of one deployment together, in bytes of UTF-8: 64 KiB. */
const MAX_BYTES = 64 * 1024;

/**
 * Holds the whole set of a deployment to its limits: several deploys may have set its variables.
 *
 * @throws GatewayError `invalid_request`
 */
export function assertWithinLimits(variables: EnvironmentVariables): void {
  const values = Object.values(variables);
  const size = values.reduce((sum, value) => sum + Buffer.byteLength(value), 0);
  if (values.length <= MAX_ENV_VARS && size <= MAX_BYTES) return;
  const limit = values.length > MAX_ENV_VARS ? `be more than ${MAX_ENV_VARS}` : 'exceed 64 KiB';
  const message = `must not ${limit}, together with those carried over`;
  const details = [{ path: 'input.envVars', message }];
  throw new GatewayError('invalid_request', `The variables ${message}.`, { details });
}

/** Keeps the variables of deployments, unreadable without the secret key. */
export type EnvironmentCipher = {
  /** Encrypts the whole set of one deployment, under the present secret key. */
  encrypt(deploymentId: string, variables: EnvironmentVariables): Uint8Array<ArrayBuffer>;
  /**
   * Reads a set back.
   *
   * @throws Error where it was encrypted under no key that is here, for another deployment, or was changed.
   */
  decrypt(deploymentId: string, encrypted: Uint8Array): EnvironmentVariables;
  /**
   * Tells sets apart without giving anything of them away: HMAC-SHA256 under the present secret key, so that a
   * change of keys changes it.
   */
  fingerprint(variables: EnvironmentVariables): string;
  /** What each set begins with that was encrypted under the present secret key, and no other does. */
  keyId: Uint8Array;
};

/** The parts of an encrypted set, in their order: which key, nonce, tag of authenticity, text. */
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const TEXT_AT = KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES;

/**
 * AES-256-GCM (NIST SP 800-38D), bound to the deployment, so that no set can be passed off as another's.
 *
 * @param secretKey 32 bytes.
 * @param previousSecretKeys those before it, which still read.
 */
export function createEnvironmentCipher(
  secretKey: Uint8Array,
  previousSecretKeys: Uint8Array[] = [],
): EnvironmentCipher {
  const keys = [secretKey, ...previousSecretKeys].map((key) => ({ key, id: keyId(key) }));
  const [present] = keys;
  if (present === undefined) throw new Error('There is no secret key.');

  return {
    encrypt(deploymentId, variables) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', present.key, nonce);
      cipher.setAAD(Buffer.from(deploymentId));
      const text = Buffer.concat([cipher.update(JSON.stringify(variables)), cipher.final()]);
      return new Uint8Array(Buffer.concat([present.id, nonce, cipher.getAuthTag(), text]));
    },

    decrypt(deploymentId, encrypted) {
      const bytes = Buffer.from(encrypted);
      const entry = keys.find(({ id }) => id.equals(bytes.subarray(0, KEY_ID_BYTES)));
      if (!entry) throw new Error(`The variables of ${deploymentId} need another secret key.`);
      const nonce = bytes.subarray(KEY_ID_BYTES, KEY_ID_BYTES + NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', entry.key, nonce);
      decipher.setAAD(Buffer.from(deploymentId));
      decipher.setAuthTag(bytes.subarray(KEY_ID_BYTES + NONCE_BYTES, TEXT_AT));
      const text = Buffer.concat([decipher.update(bytes.subarray(TEXT_AT)), decipher.final()]);
      return JSON.parse(text.toString());
    },

    fingerprint: (variables) =>
      createHmac('sha256', present.key)
        .update(JSON.stringify(Object.entries(variables).sort()))
        .digest('hex'),

    keyId: present.id,
  };
}

/** Tells keys apart without giving anything of them away. */
function keyId(key: Uint8Array): Buffer {
  return createHash('sha256')
    .update('parley key id')
    .update(key)
    .digest()
    .subarray(0, KEY_ID_BYTES);
}
