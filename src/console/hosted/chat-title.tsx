import './chat-title.css';

/** The logo of a bot, or else the first letter of its title, and the title. */
export function ChatTitle({
  title,
  logo,
  heading: Heading = 'h1',
}: {
  title: string;
  logo?: string | undefined;
  heading?: 'h1' | 'p';
}) {
  return (
    <>
      {logo ? (
        <img className="chat-logo" src={logo} alt="" width={32} height={32} />
      ) : (
        <span className="chat-logo chat-initial" aria-hidden="true">
          {initialOf(title)}
        </span>
      )}
      <Heading className="cut" dir="auto">
        {title}
      </Heading>
    </>
  );
}

/** The first letter or digit, or else the first character. */
function initialOf(title: string): string {
  const [first = ''] = /[\p{L}\p{N}]/u.exec(title) ?? [...title.trim()];
  return first.toLocaleUpperCase();
}
