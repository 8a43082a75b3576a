import { indentedJson } from '../../../parts/indented-json.ts';
import { LongCode } from './long-code.tsx';

/** A body, with JSON laid out. */
export function BodyText({ label, text }: { label: string; text: string }) {
  return <LongCode label={label}>{indentedJson(text)}</LongCode>;
}
