import { useDeferredValue, useMemo, useState } from 'react';
import { EntranceAddresses } from '../../../deploy/entrance-addresses.tsx';
import { Segments } from '../../../parts/segments.tsx';
import type { Call } from '../../../server/call.ts';
import { LongCode } from './long-code.tsx';
import { LANGUAGES, type Language, sampleOf } from './samples.ts';

const NOTES: Record<Language, string> = {
  curl: 'For a POSIX shell.',
  client: 'For Node.js 20 or later, as an ES module, with the package @parley/client.',
  node: 'For Node.js 20 or later, as an ES module. It needs no package.',
  python: 'For Python 3. It needs no package.',
  graphql: 'For Node.js 20 or later, as an ES module, with the package graphql-sse.',
  'openai-node': 'For Node.js 20 or later, as an ES module, with the package openai.',
  'openai-python': 'For Python 3, with the package openai.',
  'ai-sdk':
    'For Node.js 20 or later, as an ES module, with the package @parley/client. The key also needs the scope runs to show tool calls.',
};

/** The call as code, with the key in the variable `PARLEY_API_KEY`. */
export function CodeTab({ call }: { call: Call }) {
  const [language, setLanguage] = useState<Language>('curl');
  const label = LANGUAGES.find(({ name }) => name === language)?.label ?? language;
  // A long context becomes code after the key press that changed the call has shown.
  const shownCall = useDeferredValue(call);
  const code = useMemo(() => sampleOf(language, shownCall, location.origin), [language, shownCall]);
  return (
    <div className="inspector-body">
      <Segments<Language>
        label="Language"
        options={[...LANGUAGES]}
        current={language}
        onChange={setLanguage}
      />
      <LongCode label={label}>{code}</LongCode>
      <p className="faint">
        {NOTES[language]} Set <code>PARLEY_API_KEY</code> to an API key with the scope chat.
      </p>
      <EntranceAddresses botId={call.botId} environment={call.environment} />
    </div>
  );
}
