import type { ComponentProps } from 'react'

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  onSubmit(form: HTMLFormElement): void
}

/** A form that the app sends itself. */
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

/** Not disabled while it does nothing, so that it keeps the focus: `onSubmit` has to let nothing through then. */
export function Submit({ isClosed, className = 'button button-primary', ...rest }: SubmitProps) {
  return <button type="submit" className={className} aria-disabled={isClosed} {...rest} />
}

interface SubmitProps extends Omit<ComponentProps<'button'>, 'type'> {
  isClosed: boolean
}
