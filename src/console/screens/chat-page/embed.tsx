import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { base64Of } from '../../base64.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { pageUrlOf } from './address.tsx';
import type { WebChatBot } from './visitors-form.tsx';

/** The line that adds the chat to another page, and what the policy of that page must allow. */
export function Embed({ bot }: { bot: WebChatBot }) {
  const [isPinned, setPinned] = useState(true);
  const integrity = useIntegrity();
  const { origin, href } = new URL('../widget.js', pageUrlOf(bot));
  const accent = bot.chatPage?.accent;
  const attributes = [
    `src="${href}"`,
    `data-bot="${bot.id}"`,
    accent && `data-accent="${accent}"`,
    isPinned && integrity && `integrity="${integrity}" crossorigin="anonymous"`,
    'async',
  ];
  return (
    <section aria-labelledby="chat-embed">
      <h2 id="chat-embed">Widget</h2>
      <p>To show the chat in a page of yours, add this line to it:</p>
      <CodeBlock label="The line of the widget">
        {`<script ${attributes.filter(Boolean).join(' ')}></script>`}
      </CodeBlock>
      <p>
        {bot.webOrigins.length === 0 ? (
          <>
            No page may contain the chat yet. Name the origins of your pages under{' '}
            <a href="#chat-visitors">Visitors</a>.
          </>
        ) : (
          <>
            It works in the pages whose origins <a href="#chat-visitors">Visitors</a> names.
          </>
        )}
      </p>
      {integrity === null ? (
        <p className="field-hint">
          Browsers compute the hash of the script only at an https address, so the line has none.
        </p>
      ) : (
        <label className="chat-settings-choice">
          <input
            type="checkbox"
            checked={isPinned}
            onChange={({ target }) => setPinned(target.checked)}
          />
          <span>
            With the hash of the script. Browsers then run exactly this script: copy the line again
            after an update of Parley that changes it.
          </span>
        </label>
      )}
      <p>
        A page with a Content Security Policy must allow the script and the frame. Add this origin
        to two of its directives:
      </p>
      <CodeBlock label="The directives of the policy">
        {`script-src ${origin};\nframe-src ${origin};`}
      </CodeBlock>
      <p className="soft">
        The <Link href="/guide/channels#a-widget-in-five-minutes">guide</Link> lists the options of
        the widget.
      </p>
    </section>
  );
}

/** The hash of the widget's script as the server sends it. Null if this browser cannot compute it; absent while it does. */
function useIntegrity(): string | null | undefined {
  const [integrity, setIntegrity] = useState<string | null>();
  useEffect(() => {
    let isCurrent = true;
    void hashOfWidget()
      .catch(() => null)
      .then((hash) => {
        if (isCurrent) setIntegrity(hash);
      });
    return () => {
      isCurrent = false;
    };
  }, []);
  return integrity;
}

async function hashOfWidget(): Promise<string> {
  const answer = await fetch('/widget.js', { cache: 'no-cache' });
  if (!answer.ok) throw new Error('The widget cannot be read.');
  return `sha384-${base64Of(await crypto.subtle.digest('SHA-384', await answer.arrayBuffer()))}`;
}
