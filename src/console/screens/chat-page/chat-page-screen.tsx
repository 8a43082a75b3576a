import { WebChat } from '../../../generated/operations/console.ts';
import { Screen } from '../../frame/screen.tsx';
import { ButtonLink } from '../../parts/button.tsx';
import { Failed, NoBot, Skeleton } from '../../parts/state.tsx';
import { SCREENS } from '../../screens.ts';
import { useServerQuery } from '../../server/operations.ts';
import { Address } from './address.tsx';
import { Appearance } from './appearance.tsx';
import './chat-page-screen.css';
import { Embed } from './embed.tsx';
import { PreviewPanel } from './preview-panel.tsx';
import { VisitorsForm, type WebChatBot } from './visitors-form.tsx';

/** The chat page of a bot: its address, how it looks, who may use it, the widget, and a preview. */
export default function ChatPageScreen({ botId }: { botId: string }) {
  const { data, problem, retry } = useServerQuery(WebChat, { id: botId });
  return (
    <Screen
      title={SCREENS.chatPage.title}
      actions={
        <ButtonLink href={`/bots/${botId}/studio`} icon="edit">
          Edit in the Studio
        </ButtonLink>
      }
    >
      {data?.bot ? (
        <ChatPageSettings bot={data.bot} />
      ) : problem ? (
        <Failed problem={problem} onRetry={retry} />
      ) : data ? (
        <NoBot />
      ) : (
        <div className="chat-settings" aria-busy="true">
          <Skeleton height={320} />
        </div>
      )}
    </Screen>
  );
}

function ChatPageSettings({ bot }: { bot: WebChatBot }) {
  return (
    <div className="chat-settings">
      <div className="chat-settings-parts">
        <Address bot={bot} />
        <Appearance bot={bot} />
        <Embed bot={bot} />
        <section aria-labelledby="chat-visitors">
          <h2 id="chat-visitors">Visitors</h2>
          <VisitorsForm bot={bot} />
        </section>
      </div>
      <PreviewPanel bot={bot} />
    </div>
  );
}
