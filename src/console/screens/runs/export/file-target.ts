/** A file that is written from its start to its end. */
export type FileTarget = {
  /** @throws FileProblem if the file takes no more. */
  write(text: string): Promise<void>;
  /** Completes the file. @returns its name. */
  close(): Promise<string>;
  /** Keeps the written part. @returns the name of the file, which contains `partial` if the browser can rename it. */
  keepPartial(): Promise<string>;
  /** Leaves no file behind, where the browser can delete it. */
  discard(): Promise<void>;
};

/** Why a file cannot be written, as text. */
export class FileProblem extends Error {
  override readonly name = 'FileProblem';
}

/** The name of a file that lacks its end. */
export function partialName(name: string): string {
  const at = name.lastIndexOf('.');
  return at > 0 ? `${name.slice(0, at)}.partial${name.slice(at)}` : `${name}.partial`;
}

/** A problem of a file as text. */
export function fileProblem(error: unknown): FileProblem {
  const reason = error instanceof Error ? error.message : 'The reason is not known.';
  return new FileProblem(`The file cannot be written. ${reason}`, { cause: error });
}
