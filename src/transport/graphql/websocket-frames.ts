/** The frames of one read of a WebSocket's connection. */
export type ReadFrames = {
  /** The frames whose headers ended in it. */
  frames: number;
  /** The control frames among them, and the data frames without data. */
  empty: number;
  /** Whether all messages before its last bytes are complete. */
  isNew: boolean;
  /** Whether a message or a frame is incomplete after it. */
  isUnfinished: boolean;
};

/**
 * Follows the frames of a WebSocket's connection without keeping their data, so that what the library buffers can be
 * bounded. Source: RFC 6455, section 5.2.
 */
export function createFrameReader(): (bytes: Uint8Array) => ReadFrames {
  /** The bytes of an incomplete header. */
  let header: number[] = [];
  /** The bytes of the frame's data that have not arrived. */
  let missing = 0;
  /** Whether the message continues in a further frame. */
  let continues = false;

  const begin = (read: ReadFrames) => {
    const [first = 0] = header;
    const isControl = (first & 0x0f) >= 0x08;
    missing = dataLength(header);
    header = [];
    if (!isControl) continues = (first & 0x80) === 0;
    read.frames += 1;
    if (isControl || missing === 0) read.empty += 1;
  };

  return (bytes) => {
    const read = { frames: 0, empty: 0, isNew: false, isUnfinished: false };
    let at = 0;
    while (at < bytes.length) {
      if (missing > 0) {
        const taken = Math.min(missing, bytes.length - at);
        missing -= taken;
        at += taken;
      } else {
        header.push(bytes[at] ?? 0);
        at += 1;
        if (header.length === headerLength(header)) begin(read);
      }
      read.isUnfinished = header.length > 0 || missing > 0 || continues;
      if (!read.isUnfinished) read.isNew = true;
    }
    return read;
  };
}

/** The length of a header whose first bytes have arrived. */
function headerLength([, second]: number[]): number {
  if (second === undefined) return 2;
  return 2 + lengthBytes(second) + (second & 0x80 ? 4 : 0);
}

/** The bytes of an extended length. */
function lengthBytes(second: number): number {
  const length = second & 0x7f;
  if (length < 126) return 0;
  return length === 126 ? 2 : 8;
}

function dataLength(header: number[]): number {
  const [, second = 0] = header;
  const extended = header.slice(2, 2 + lengthBytes(second));
  if (extended.length === 0) return second & 0x7f;
  return extended.reduce((length, byte) => length * 256 + byte, 0);
}
