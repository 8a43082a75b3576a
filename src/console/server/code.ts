/** Takes the one-time code of a sign-in link out of the address, so that no history, bookmark or screenshot keeps it. */
export function takeCode(): string | undefined {
  const address = new URL(location.href);
  const code = address.searchParams.get('code') ?? undefined;
  if (code === undefined) return undefined;
  address.searchParams.delete('code');
  history.replaceState(history.state, '', address);
  return code;
}

/** Whether the address still has a one-time code. */
export function hasCode(): boolean {
  return new URLSearchParams(location.search).has('code');
}
