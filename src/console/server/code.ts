/** The address of a sign-in link. Its code is in the fragment, which browsers send to no server. */
const LINK = /^#code=([^&]+)$/;

/** Takes the one-time code of a sign-in link out of the address, so that no history, bookmark or screenshot keeps it. */
export function takeCode(): string | undefined {
  // A further link in the same tab changes only the fragment, so the browser does not load the page again.
  addEventListener('hashchange', () => {
    if (hasCode()) location.reload();
  });
  const code = codeIn(location);
  if (code !== undefined) history.replaceState(history.state, '', location.pathname);
  return code;
}

/** Whether the address still has a one-time code. */
export function hasCode(): boolean {
  return codeIn(location) !== undefined;
}

function codeIn({ pathname, hash }: Location): string | undefined {
  return pathname === '/sign-in' ? LINK.exec(hash)?.[1] : undefined;
}
