import { navigate } from 'wouter/use-browser-location';

/** Leads to an address in the guide. Within the same page, the browser scrolls to the heading. */
export function goTo(address: string): void {
  const { pathname, hash } = new URL(address, location.href);
  if (pathname === location.pathname && hash) location.hash = hash;
  else navigate(address);
}
