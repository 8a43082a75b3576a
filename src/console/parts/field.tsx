import { type ComponentProps, type ReactNode, useEffect, useId, useRef } from 'react';
import './field.css';
import { count } from '../numbers.ts';

type FieldProps = {
  label: string;
  hint?: ReactNode;
  /** The problem of the value. It replaces the hint. */
  error?: string | undefined;
};

type Control = { id: string; 'aria-describedby': string; 'aria-invalid': true | undefined };

/** A labelled control, with a hint or an error below it. */
function Field({
  label,
  hint,
  error: refusal,
  fault,
  children,
}: FieldProps & {
  /** A problem that keeps the form from being submitted. */
  fault?: string | undefined;
  children: (control: Control) => ReactNode;
}) {
  const id = useId();
  const note = `${id}-note`;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const control = element.current?.querySelector<HTMLInputElement>('input, textarea');
    control?.setCustomValidity(fault ?? '');
  }, [fault]);
  const error = fault ?? refusal;
  return (
    <div ref={element} className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': note, 'aria-invalid': error ? true : undefined })}
      <p id={note} className={error ? 'field-error' : 'field-hint'} aria-live="polite">
        {error ?? hint}
      </p>
    </div>
  );
}

/**
 * The problem of a text that is too long. The field keeps the whole text: with the browser's `maxlength`, a pasted text
 * would be cut without a message.
 */
function lengthFault(value: unknown, most: number | undefined): string | undefined {
  const length = typeof value === 'string' ? value.length : 0;
  if (most === undefined || length <= most) return undefined;
  return `At most ${count(most)} characters. This text has ${count(length)}.`;
}

function textProps(isMono: boolean) {
  const className = isMono ? 'input mono' : 'input';
  return { className, autoComplete: 'off', spellCheck: !isMono };
}

export function TextField({
  label,
  hint,
  error,
  isMono = false,
  maxLength,
  ...input
}: FieldProps & { isMono?: boolean } & Omit<ComponentProps<'input'>, 'id' | 'className'>) {
  return (
    <Field label={label} hint={hint} error={error} fault={lengthFault(input.value, maxLength)}>
      {(control) => <input {...textProps(isMono)} {...control} {...input} />}
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  error,
  isMono = false,
  maxLength,
  ...textarea
}: FieldProps & { isMono?: boolean } & Omit<ComponentProps<'textarea'>, 'id' | 'className'>) {
  return (
    <Field label={label} hint={hint} error={error} fault={lengthFault(textarea.value, maxLength)}>
      {(control) => <textarea {...textProps(isMono)} {...control} {...textarea} />}
    </Field>
  );
}

export function SelectField({
  label,
  hint,
  error,
  children,
  ...select
}: FieldProps & Omit<ComponentProps<'select'>, 'id' | 'className'>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <select className="input select" {...control} {...select}>
          {children}
        </select>
      )}
    </Field>
  );
}
