import { useState } from 'react';
import { CodeBlock } from '../../../parts/copy.tsx';
import { Segments } from '../../../parts/segments.tsx';
import type { Call } from '../../../server/call.ts';
import { LANGUAGES, type Language, sampleOf } from './samples.ts';

const NOTES: Record<Language, string> = {
  curl: 'For a POSIX shell.',
  client: 'For Node.js 20 or later, as an ES module, with the package @parley/client.',
  node: 'For Node.js 20 or later, as an ES module. It needs no package.',
  python: 'For Python 3. It needs no package.',
  graphql: 'For Node.js 20 or later, as an ES module, with the package graphql-sse.',
};

/** The call as code, with the key in the variable `PARLEY_API_KEY`. */
export function CodeTab({ call }: { call: Call }) {
  const [language, setLanguage] = useState<Language>('curl');
  const label = LANGUAGES.find(({ name }) => name === language)?.label ?? language;
  return (
    <div className="inspector-body">
      <Segments<Language>
        label="Language"
        options={[...LANGUAGES]}
        current={language}
        onChange={setLanguage}
      />
      <CodeBlock label={label}>{sampleOf(language, call, location.origin)}</CodeBlock>
      <p className="faint">
        {NOTES[language]} Set <code>PARLEY_API_KEY</code> to an API key with the scope chat.
      </p>
    </div>
  );
}
