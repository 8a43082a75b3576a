/** A buffer that grows as bytes are appended to it. */
export type ByteBuffer = {
  append(bytes: Buffer): void;
  /** The number of appended bytes. */
  length(): number;
  /** The bytes of memory that it holds, at least its length. */
  size(): number;
  /** Returns all bytes, and empties the buffer. */
  take(): Buffer;
};

const EMPTY: Buffer = Buffer.alloc(0);

/** @param onGrow called with the new size before the buffer grows. If it throws, nothing is appended. */
export function createByteBuffer(onGrow: (size: number) => void): ByteBuffer {
  let memory = EMPTY;
  let length = 0;

  const grow = (size: number) => {
    onGrow(size);
    const larger = Buffer.allocUnsafeSlow(size);
    memory.copy(larger, 0, 0, length);
    memory = larger;
  };

  return {
    append(bytes) {
      const end = length + bytes.length;
      if (length === 0) {
        // Most bodies arrive in one piece, which needs no copy.
        onGrow(end);
        memory = bytes;
      } else {
        if (end > memory.length) grow(Math.max(end, 2 * memory.length));
        bytes.copy(memory, length);
      }
      length = end;
    },
    length: () => length,
    size: () => memory.length,
    take() {
      const bytes = memory.subarray(0, length);
      memory = EMPTY;
      length = 0;
      return bytes;
    },
  };
}
