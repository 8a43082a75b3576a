import { Screen } from '../frame/screen.tsx';
import { ButtonLink } from '../parts/button.tsx';
import { Empty } from '../parts/state.tsx';

export function NotFound() {
  return (
    <Screen title="Not found">
      <Empty title="There is no page at this address.">
        <ButtonLink href="/bots">Go to your bots</ButtonLink>
      </Empty>
    </Screen>
  );
}
