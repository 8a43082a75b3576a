/** The paths of the icons, drawn with strokes on a grid of 16. */
const PATHS = {
  check: 'm3 8.5 3.2 3.2L13 4.8',
  chevron: 'm4.5 6.5 3.5 3.5 3.5-3.5',
  close: 'm4 4 8 8m0-8-8 8',
  copy: 'M5.5 5.5V3.2c0-.4.3-.7.7-.7h6.6c.4 0 .7.3.7.7v6.6c0 .4-.3.7-.7.7h-2.3M3.2 5.5h6.6c.4 0 .7.3.7.7v6.6c0 .4-.3.7-.7.7H3.2a.7.7 0 0 1-.7-.7V6.2c0-.4.3-.7.7-.7Z',
  dots: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  external:
    'M9.5 2.5h4v4m0-4L8 8m-1.500-4.500H3.200a.7.7 0 0 0-.7.7v8.600c0 .4.3.7.7.7h8.600c.4 0 .7-.3.7-.7V9.500',
  list: 'M2.500 4h11m-11 4h11m-11 4h7',
  book: 'M3 3.200c0-.4.3-.7.7-.7h9.3v9H4.200A1.200 1.200 0 0 0 3 12.700Zm0 9.500c0 .5.5.8 1.200.8H13',
  chat: 'M2.500 3.500h8a3 3 0 0 1 0 7h-4l-4 3Z',
  plus: 'M8 3v10M3 8h10',
  code: 'm5.500 4.500-3.500 3.500 3.500 3.500m5-7 3.500 3.500-3.500 3.500',
  search: 'M7 11.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9Zm3.300-1.200 3.200 3.200',
  sliders:
    'M2.500 5h6.500m3 0h1.500M9 3.200v3.600h3V3.200Zm-6.500 7.800h1.500m3 0h6.500M4 9.200v3.600h3V9.200Z',
  user: 'M8 8.200a2.700 2.700 0 1 0 0-5.400 2.700 2.700 0 0 0 0 5.400Zm-5 5.300c.6-2 2.600-3.300 5-3.300s4.400 1.300 5 3.300',
  warning: 'M8 2.500 14 13H2Zm0 4v3m0 1.700v.1',
  send: 'M8 13V3.500M4 7l4-3.800L12 7',
  edit: 'm10.300 3.300 2.400 2.400L6.200 12.200l-3 .600.600-3Z',
  repeat: 'M12.800 8.300A4.800 4.800 0 1 1 11.400 4.600l1.600 1.600m0-3.200v3.200H9.800',
  panel:
    'M3.200 3h9.600c.4 0 .7.3.7.7v8.600c0 .4-.3.7-.7.7H3.200a.7.7 0 0 1-.7-.7V3.700c0-.4.3-.7.7-.7ZM9.500 3v10',
  down: 'M8 3v9.500M4 8.800l4 3.700 4-3.700',
  key: 'M9.800 9.700a3.600 3.600 0 1 0-3.400-2.500L2.500 11v2.500H5v-1.500h1.500v-1.500l1.200-1.100c.6.200 1.300.300 2.100.300Zm.7-4.200h.01',
  stop: 'M4.500 4.500h7v7h-7Z',
  bot: 'M8 2v2m-4.500 0h9c.6 0 1 .4 1 1v6.500c0 .6-.4 1-1 1h-9a1 1 0 0 1-1-1V5c0-.6.4-1 1-1ZM6 7.500v1m4-1v1',
};

export type IconName = keyof typeof PATHS;

/** A decorative icon. The control around it has the name. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'dots' ? 2 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
