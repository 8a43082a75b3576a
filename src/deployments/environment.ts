import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { invalidInput } from '../errors/errors.ts';
import { MAX_ENV_VARS } from '../text/input.ts';

/** The variables of a deployment by name. Values are secret: never show, log or return them. */
export type EnvironmentVariables = Record<string, string>;

/** Bytes of UTF-8 of all values of one deployment together. */
const MAX_BYTES = 64 * 1024;

/**
 * Checks all variables of a deployment, because each deploy adds to those carried over.
 *
 * @throws GatewayError `invalid_request`
 */
export function assertWithinLimits(variables: EnvironmentVariables): void {
  const values = Object.values(variables);
  const size = values.reduce((sum, value) => sum + Buffer.byteLength(value), 0);
  if (values.length <= MAX_ENV_VARS && size <= MAX_BYTES) return;
  const limit = values.length > MAX_ENV_VARS ? `be more than ${MAX_ENV_VARS}` : 'exceed 64 KiB';
  const message = `must not ${limit}, together with those carried over`;
  throw invalidInput([{ path: 'input.envVars', message }], `The variables ${message}.`);
}

/** Encrypts and decrypts the variables of deployments. */
export type EnvironmentCipher = {
  /** Encrypts all variables of one deployment under the current secret key. */
  encrypt(deploymentId: string, variables: EnvironmentVariables): Uint8Array<ArrayBuffer>;
  /**
   * @throws Error if the key is unknown, the data belongs to another deployment, or the data was modified.
   */
  decrypt(deploymentId: string, encrypted: Uint8Array): EnvironmentVariables;
  /**
   * Compares variables without revealing them: HMAC-SHA256 under the current secret key. A key change changes the
   * fingerprint.
   */
  fingerprint(variables: EnvironmentVariables): string;
  /** The prefix of all data that is encrypted under the current secret key. */
  keyId: Uint8Array;
};

/** The layout of encrypted variables: key id, nonce, authentication tag, ciphertext. */
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const TEXT_AT = KEY_ID_BYTES + NONCE_BYTES + TAG_BYTES;

/**
 * Uses AES-256-GCM (NIST SP 800-38D) with the deployment's id as associated data, so that ciphertexts cannot be swapped.
 *
 * @param secretKey 32 bytes.
 * @param previousSecretKeys keys that can still decrypt.
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

/** Identifies a key without revealing it. */
function keyId(key: Uint8Array): Buffer {
  return createHash('sha256')
    .update('parley key id')
    .update(key)
    .digest()
    .subarray(0, KEY_ID_BYTES);
}
