import { useLocation } from 'wouter';
import { Icon } from '../parts/icon.tsx';
import { Menu, MenuLink } from '../parts/menu.tsx';
import { AccountItems } from './account-menu.tsx';
import { type Destination, isAt } from './destinations.ts';

/** The places for which the bar of narrow windows has no room, and the account. Wide windows do not show it. */
export function MoreMenu({ destinations }: { destinations: Destination[] }) {
  const [location] = useLocation();
  const rest = destinations.filter(({ isInBar }) => !isInBar);
  const isHere = rest.some((destination) => isAt(destination, location));
  return (
    <Menu
      label="More"
      className={isHere ? 'nav side-more side-more-current' : 'nav side-more'}
      hasText
      button={
        <>
          <Icon name="dots" />
          More
        </>
      }
    >
      {rest.map((destination) => (
        <MenuLink
          key={destination.href}
          href={destination.href}
          isPage={destination.isPage}
          isCurrent={isAt(destination, location)}
        >
          {destination.label}
          {destination.count > 0 && ` (${destination.count} waiting)`}
        </MenuLink>
      ))}
      <hr />
      <AccountItems />
    </Menu>
  );
}
