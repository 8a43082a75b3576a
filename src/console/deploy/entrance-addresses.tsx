import { Fragment, type ReactNode } from 'react';
import { CopyButton } from '../parts/copy.tsx';
import '../parts/pairs.css';

/** Where clients reach a bot: what each kind of client needs as its address. */
export function EntranceAddresses({
  botId,
  environment,
  origin = location.origin,
  children,
}: {
  botId: string;
  environment: 'PRODUCTION' | 'STAGING';
  /** The origin of the server, as clients reach it. */
  origin?: string;
  /** Further addresses, before the others. */
  children?: ReactNode;
}) {
  const model = environment === 'STAGING' ? `${botId}:staging` : botId;
  const rows: [name: string, ...values: string[]][] = [
    ['REST', `${origin}/v1/bots/${botId}/chat`],
    ['GraphQL', `${origin}/graphql`],
    ['OpenAI base URL, model', `${origin}/v1`, model],
    // MCP reaches production alone.
    ...(environment === 'STAGING'
      ? []
      : [['MCP', `${origin}/mcp?bots=${botId}`] satisfies [string, string]]),
  ];
  return (
    <dl className="pairs" aria-label="Addresses of the bot">
      {children}
      {rows.map(([name, ...values]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {values.map((value) => (
              <Fragment key={value}>
                <code>{value}</code> <CopyButton label={`Copy ${value}`} text={value} />{' '}
              </Fragment>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
