import type { ComponentProps } from 'react'

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  onSubmit(form: HTMLFormElement): void
}

/**
 * A form that the app, not the browser, submits. It first lets each `Input` say what is wrong with it; with
 * `noValidate` the view checks the fields by itself.
 */
export function Form({ onSubmit, noValidate = false, ...rest }: FormProps) {
  return (
    <form
      {...rest}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        const form = event.currentTarget
        if (noValidate || form.checkValidity()) onSubmit(form)
        else form.querySelector<HTMLElement>('input:invalid')?.focus()
      }}
    />
  )
}

/** Never disabled, so that it keeps the focus: while it is closed, `onSubmit` must do nothing. */
export function Submit({ isClosed, className = 'button button-primary', ...rest }: SubmitProps) {
  return <button type="submit" className={className} aria-disabled={isClosed} {...rest} />
}

interface SubmitProps extends Omit<ComponentProps<'button'>, 'type'> {
  isClosed: boolean
}
