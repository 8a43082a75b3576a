/** The name of a deployment in a sentence, such as `v12`. */
export function versionName({ id, version }: { id: string; version: number | null }): string {
  return version === null ? id : `v${version}`;
}
