import { type ComponentProps, type ReactNode, useId } from 'react';
import './field.css';

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
  error,
  children,
}: FieldProps & { children: (control: Control) => ReactNode }) {
  const id = useId();
  const note = `${id}-note`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': note, 'aria-invalid': error ? true : undefined })}
      <p id={note} className={error ? 'field-error' : 'field-hint'} aria-live="polite">
        {error ?? hint}
      </p>
    </div>
  );
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
  ...input
}: FieldProps & { isMono?: boolean } & Omit<ComponentProps<'input'>, 'id' | 'className'>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => <input {...textProps(isMono)} {...control} {...input} />}
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  error,
  isMono = false,
  ...textarea
}: FieldProps & { isMono?: boolean } & Omit<ComponentProps<'textarea'>, 'id' | 'className'>) {
  return (
    <Field label={label} hint={hint} error={error}>
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
