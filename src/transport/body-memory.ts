import { GatewayError } from '../errors/errors.ts';

/** Largest size of a request body, in bytes. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Largest size of a request body of GraphQL without a valid key, in bytes. */
export const MAX_KEYLESS_BODY_BYTES = 64 * 1024;

/**
 * Bytes that the arriving bodies of one owner, and of all owners together, may hold in this process. An owner also holds
 * no more than is left of `ofAll`: of `n` owners that take all they can, each gets `ofAll / (n + 1)`, and a newcomer finds
 * half as much. Source: Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", 1998.
 */
const BUDGETS = {
  account: { ofOne: 32 * MAX_BODY_BYTES, ofAll: 128 * MAX_BODY_BYTES },
  address: { ofOne: 4 * MAX_BODY_BYTES, ofAll: 16 * MAX_BODY_BYTES },
};
/** Bytes of one body that count against its owner only, so that other owners' large bodies never refuse a small one. */
const SMALL_BYTES = 16 * 1024;

/** Whose budget an arriving body counts against: a caller with a valid credential, or else the client's network. */
export type BodyOwner = { kind: keyof typeof BUDGETS; id: string };

/** The memory that one arriving body, or one unfinished message of a WebSocket, holds. */
export type HeldMemory = {
  /**
   * Changes the size. To shrink it never fails.
   *
   * @throws GatewayError `rate_limit_exceeded` if the owner would hold more than its share. The size then stays as it was.
   */
  resize(bytes: number): void;
};

/** Counts the memory that arriving bodies hold. A body begins with 0 bytes, and must end with 0. */
export type BodyMemory = { open(owner: BodyOwner): HeldMemory };

export function createBodyMemory(): BodyMemory {
  const owners = new Map<string, number>();
  const totals = { account: 0, address: 0 };
  return {
    open({ kind, id }) {
      const name = `${kind}:${id}`;
      const { ofOne, ofAll } = BUDGETS[kind];
      let size = 0;
      return {
        resize(bytes) {
          const ofOwner = (owners.get(name) ?? 0) + bytes - size;
          const ofKind = totals[kind] + beyondSmall(bytes) - beyondSmall(size);
          const limit = beyondSmall(bytes) > 0 ? Math.min(ofOne, ofAll - ofKind) : ofOne;
          if (bytes > size && ofOwner > limit) throw tooMuch();
          totals[kind] = ofKind;
          if (ofOwner > 0) owners.set(name, ofOwner);
          else owners.delete(name);
          size = bytes;
        },
      };
    },
  };
}

function beyondSmall(bytes: number): number {
  return Math.max(0, bytes - SMALL_BYTES);
}

function tooMuch(): GatewayError {
  const message = 'Too many request bodies are in transit. Retry after some of them have arrived.';
  return new GatewayError('rate_limit_exceeded', message, { retryAfter: 1 });
}
