import type { ComponentProps } from 'react'

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  onSubmit(form: HTMLFormElement): void
}

/** A form that the app, not the browser, submits. */
export function Form({ onSubmit, ...rest }: FormProps) {
  return (
    <form
      {...rest}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit(event.currentTarget)
      }}
    />
  )
}

/** Never disabled, so that it keeps the focus: while it is closed, `onSubmit` must ignore it. */
export function Submit({ isClosed, className = 'button button-primary', ...rest }: SubmitProps) {
  return <button type="submit" className={className} aria-disabled={isClosed} {...rest} />
}

interface SubmitProps extends Omit<ComponentProps<'button'>, 'type'> {
  isClosed: boolean
}
